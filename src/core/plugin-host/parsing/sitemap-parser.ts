/** Reads a sitemap or sitemap index (sitemaps.org), or a feed. Never throws: faults are among its errors. */
export type ParseSitemap = typeof import('../../../../plugins/parse-feed/sitemap.ts')['parseSitemap'];

/**
 * The reader of the bundled plugin `parse-feed`: a feed may serve as a sitemap, so both have one reader. Imported when
 * the first sitemap is read, since most rounds read none.
 */
export async function loadSitemapParser(): Promise<ParseSitemap> {
  return (await import('../../../../plugins/parse-feed/sitemap.ts')).parseSitemap;
}
