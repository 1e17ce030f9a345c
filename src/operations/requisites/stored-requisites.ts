import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import type { CrawlDeps } from '../deps.ts';
import { openSegments } from '../state/open-segments.ts';
import { onSnapshot } from '../state/state-copy.ts';
import { REQUISITES_FOLDER } from '../state/state-folder.ts';

/** The crawl of requisites, to be read. */
export interface StoredRequisites {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
}

/** Calls `use` with the requisites of a state directory as they are now, while a crawl may run; `null`: it has none. */
export async function withStoredRequisites<Value>(
  { config, runtime: { log, clock } }: Pick<CrawlDeps, 'config' | 'runtime'>,
  dir: string,
  use: (requisites: StoredRequisites | null) => Promise<Value>,
): Promise<Value> {
  const own = join(dir, REQUISITES_FOLDER);
  if (!existsSync(join(own, 'db'))) return use(null);
  // Requisites lie in the state directory, wherever the segments of the pages are.
  const segments = openSegments({ config: { ...config, segments: { ...config.segments, store: '' } }, dir: own, log });
  return onSnapshot(own, async (copy) => {
    const db = await openLevelCrawlDb({ dir: join(copy, 'db'), log, clock });
    try {
      return await use({ db, segments });
    } finally {
      await db.close();
    }
  });
}

/** What pages need, what style sheets and frames among it need in turn, and where redirects lead. */
export class NeededRequisites {
  readonly #db: CrawlDb;
  readonly #urls = new UrlSet();
  readonly #pages = new UrlSet();

  constructor(db: CrawlDb) {
    this.#db = db;
  }

  /** Adds all that a page needs. */
  async addOf(page: string): Promise<void> {
    this.#pages.add(page);
    let found = (await this.#db.linksOf([page])).flat();
    while (found.length > 0) {
      const added = found.filter((url) => this.#urls.add(url));
      const [links, data] = [await this.#db.linksOf(added), await this.#db.getMany(added)];
      found = [...links.flat(), ...data.flatMap((datum) => datum?.target ?? [])];
    }
  }

  /** Whether a URL is needed, and is not one of the pages themselves. */
  has(url: string): boolean {
    return this.#urls.has(url) && !this.#pages.has(url);
  }
}

export interface StoredRequisite {
  readonly datum: CrawlDatum;
  readonly fetched: FetchedRecord;
  /** Open only until the next requisite is yielded. */
  readonly segment: Segment;
}

/** Records looked up at a time. */
const CHUNK = 200;

/** The current responses of requisites, redirects included, each once, newest segment first. */
export async function* storedRequisites(
  { db, segments }: StoredRequisites,
  isWanted: (url: string) => boolean,
): AsyncGenerator<StoredRequisite> {
  const done = new UrlSet();
  for (const { id } of (await segments.list()).reverse()) {
    const segment = await segments.open(id, 'read');
    try {
      let chunk: FetchedRecord[] = [];
      const current = async (): Promise<StoredRequisite[]> => {
        const data = await db.getMany(chunk.map(({ url }) => url));
        const found = chunk.flatMap((fetched, i) => {
          const datum = data[i];
          return datum !== undefined && isCurrent(fetched, datum) && done.add(datum.url)
            ? [{ datum, fetched, segment }]
            : [];
        });
        chunk = [];
        return found;
      };
      for await (const fetched of segment.fetched()) {
        if (fetched.warc === null || !isWanted(fetched.url)) continue;
        chunk.push(fetched);
        if (chunk.length >= CHUNK) yield* await current();
      }
      yield* await current();
    } finally {
      await segment.close();
    }
  }
}

function isCurrent({ outcome }: FetchedRecord, { state, digest }: CrawlDatum): boolean {
  if (state === 'gone') return false;
  if (state.startsWith('redir')) return outcome.kind === 'redirect';
  return outcome.kind === 'success' && outcome.digest === digest;
}
