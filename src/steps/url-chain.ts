import { countRejection, rejectionKind } from '../domain/crawl/discovery/rejections.ts';
import { NO_SKIP_SINK, type SkipSink } from './counters/skip-notes.ts';

/** What the steps need of the URL plugins: canonical form, normalisers, filters, in one call. */
export interface UrlChainContext {
  readonly from: string | null;
  readonly depth: number;
  readonly seedHosts: ReadonlySet<string>;
}

export interface UrlChainResult {
  readonly url: string | null;
  readonly reason: string | null;
  /** The plugin that refused, `url` for what is none to be crawled. */
  readonly by?: string;
}

export interface UrlChain {
  /** The canonical, normalised URL, or the reason why it is kept out. Never throws. */
  apply(url: string, context: UrlChainContext): UrlChainResult;
}

/** The chain, with each refusal counted by its reason, and told. */
export function countingRejections(
  chain: UrlChain,
  counts: Record<string, number>,
  skips: SkipSink = NO_SKIP_SINK,
): UrlChain {
  return {
    apply(url, context) {
      const result = chain.apply(url, context);
      if (result.url === null) {
        const by = result.by ?? 'url';
        countRejection(counts, rejectionKind(by, result.reason ?? 'refused'));
        const who = by === 'url' ? null : by;
        const reason = who === null ? 'url-invalid' : 'url-filtered';
        skips.note({ url, reason, by: who, detail: result.reason, from: context.from });
      }
      return result;
    },
  };
}
