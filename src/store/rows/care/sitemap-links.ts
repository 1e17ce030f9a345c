import { SITEMAP_LINKS_KEY } from '../../../core/ports/crawl-db.ts';
import { ROW } from '../codecs/keys.ts';
import { existMany, type Rows } from '../rows.ts';

/** Whether links without a record may be those of a sitemap: they keep the URLs that it lists from being orphans. */
export async function hasSitemapLinks(rows: Rows): Promise<boolean> {
  const [isThere = false] = await existMany(rows, [ROW.meta + SITEMAP_LINKS_KEY]);
  return isThere;
}
