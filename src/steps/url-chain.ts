/** What the steps need of the URL plugins: canonical form, normalisers, filters, in one call. */
export interface UrlChainContext {
  readonly from: string | null;
  readonly depth: number;
  readonly seedHosts: ReadonlySet<string>;
}

export interface UrlChain {
  /** The canonical, normalised URL, or the reason why it is kept out. Never throws. */
  apply(url: string, context: UrlChainContext): { readonly url: string | null; readonly reason: string | null };
}
