import { countRejection, rejectionKind } from '../domain/url/rejections.ts';

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

/** The chain, with each refusal counted by its reason. */
export function countingRejections(chain: UrlChain, counts: Record<string, number>): UrlChain {
  return {
    apply(url, context) {
      const result = chain.apply(url, context);
      if (result.url === null) countRejection(counts, rejectionKind(result.by ?? 'url', result.reason ?? 'refused'));
      return result;
    },
  };
}
