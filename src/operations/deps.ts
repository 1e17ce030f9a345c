import type { LevelCrawlDb } from '../adapters/rows/rows-crawl-db.ts';
import type { Wiring } from '../crawler/wiring.ts';
import type { SeenUrls } from '../ports/seen-urls.ts';
import type { UrlAdmission } from '../steps/update/admission.ts';
import type { QueryVariants } from '../steps/update/query-variants.ts';

/** What the commands of an open crawl work with. */
export interface CrawlDeps {
  /** State directory, absolute. */
  readonly dir: string;
  readonly wiring: Wiring;
  readonly random: () => number;
  /** Into how many segments a round is cut; absent: it is one. */
  readonly parts?: number;
  /** Throws for a crawl that is open for its segments only. */
  store(): Store;
}

export interface Store {
  readonly db: LevelCrawlDb;
  readonly seen: SeenUrls;
  readonly seedHosts: Set<string>;
  /** Remembers what it has counted from one updatedb to the next. */
  readonly variants: QueryVariants;
  readonly admission: UrlAdmission;
}
