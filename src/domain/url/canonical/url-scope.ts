/**
 * Where a URL is met, as the scopes of Nutch's normalisers: as a seed, as a known URL about to be selected, as the
 * target of a redirect, as a link of a page or a sitemap, or elsewhere.
 */
export const URL_SCOPES = ['default', 'inject', 'generate', 'fetcher', 'outlink'] as const;
export type UrlScope = (typeof URL_SCOPES)[number];
