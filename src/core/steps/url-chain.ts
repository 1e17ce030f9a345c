import { countRejection, rejectionKind } from '../domain/crawl/discovery/link-rules.ts';
import type { UrlScope } from '../domain/url/canonical/url-key.ts';
import { NO_SKIP_SINK, type SkipSink } from './counters/outcome-counts.ts';

/** Where a URL was met; URL filters judge by it. */
export interface UrlChainContext {
  /** The page with the link; `null`: a seed, or a URL of the crawl db. */
  readonly from: string | null;
  readonly depth: number;
  readonly seedHosts: ReadonlySet<string>;
  readonly scope: UrlScope;
}

export interface UrlChainResult {
  readonly url: string | null;
  readonly reason: string | null;
  /** The plugin that refused; `url`: no valid URL, or none that can be crawled. */
  readonly by?: string;
}

/** The URL plugins in one call: canonical form, normalisers, filters. */
export interface UrlChain {
  /** Whether a filter may refuse a URL for its depth. */
  readonly judgesDepth?: boolean;
  /** The canonical, normalised URL, or the reason why it is refused. Never throws. */
  apply(url: string, context: UrlChainContext): UrlChainResult;
}

/** The chain, with each refusal counted by its reason and noted as skipped. */
export function countingRejections(
  chain: UrlChain,
  counts: Record<string, number>,
  skips: SkipSink = NO_SKIP_SINK,
): UrlChain {
  return {
    ...(chain.judgesDepth && { judgesDepth: true }),
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
