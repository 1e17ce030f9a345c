import { resolve } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { ChangeQuery } from '../../core/ports/change-feed.ts';
import type { CrawlDb, ScanQuery } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OrderedRows } from '../../core/ports/ordered-rows.ts';
import type { PartOfCrawl, QueryDb } from '../../operations/deps.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { makeStateFolder } from '../../operations/state/state-folder.ts';
import { hasFormat } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import type { Turns } from '../ports/turns.ts';
import { openStoreOf, requireSharedDb } from '../workers/open-shared-db.ts';
import { asOneCrawlDb } from './as-one-crawl-db.ts';
import { partitionDir } from './partition-dir.ts';
import type { PartitionStores } from './partition-stores.ts';
import {
  partitionName,
  partitionNames,
  requireShape,
  requireSpread,
  type SpreadShape,
  sharedPartitions,
} from './shared-partitions.ts';
import { type QueryTables, SpreadCrawlDb } from './spread-db.ts';

export interface SpreadDbOptions {
  readonly config: Config;
  /** State directory of the whole crawl, with its mark. */
  readonly dir: string;
  /** Their number, as the mark says. */
  readonly partitions: number;
  readonly log: Log;
  /** Opens the tables of signatures as well. Default: false. */
  readonly withIndexes?: boolean;
}

/**
 * Longest time that a command waits for the holder of a partition, ms: a turn takes a minute, plus the end of its
 * round.
 */
export const HOLD_MS = 5 * 60_000;

/** The partitions of a spread crawl, to query them and to send them orders. */
export type OpenSpreadDb = QueryDb & {
  partitionOf(host: string): number;
  /** The same crawl; it drops all writes. */
  readonly trial: SpreadCrawlDb;
  readonly stores: PartitionStores;
  readonly turns: Turns;
};

/**
 * Opens all partitions of a spread crawl for reading, while workers hold them. Rejects with `config-invalid` if
 * directory and store do not belong together, and with an error of the store.
 */
export async function openSpreadDb(options: SpreadDbOptions): Promise<OpenSpreadDb> {
  const { config, dir, partitions, log, withIndexes = false } = options;
  const { name, leaseMs } = config.cluster;
  const store = await openStoreOf(config, dir);
  const place = { store, dir, name, partitions, segments: segmentsPlace(config) };
  let turns: Turns | null = null;
  const closeStore = async (): Promise<void> => {
    await turns?.close();
    await store.close();
  };
  try {
    const spread = await requireSpread(place);
    const opened = store.turns(partitionNames({ ...place, ...spread }), leaseMs);
    turns = opened;
    const rowsOf = async (partition: number): Promise<OrderedRows> => {
      const own = partitionName(name, partition);
      await requireSharedDb({ store, dir: partitionDir(dir, partition), name: own });
      return store.rows(own, null);
    };
    const near = withIndexes ? nearPlan(config) : null;
    const db = await spreadDbOn(rowsOf, spread, log, { near, check: () => requireShape({ ...place, ...spread }) });
    const partOn = (part: CrawlDb, number: number): PartOfCrawl => ({
      db: part,
      dir: partitionDir(dir, number),
      number,
    });
    return Object.assign(db.with({ close: () => db.close().finally(closeStore) }), {
      trial: db.with({ write: async () => {} }),
      stores: sharedPartitions({ ...place, ...spread }, leaseMs, { waitMs: HOLD_MS }),
      turns: opened,
      partOf: (host: string) => partOn(db.withFactsOf(db.partitionOf(host)), db.partitionOf(host)),
      parts: [...db.all].map(([partition, part]) => partOn(part, partition)),
      async asOne(to: Log) {
        const links = await db.linksUnderWay();
        if (links > 0)
          to.warn('links between partitions are not in the export: "incrawl work" delivers them', { links });
        return asOneCrawlDb(db);
      },
    });
  } catch (error) {
    await closeStore();
    throw error;
  }
}

/** As {@link openSpreadDb}, on rows of any storage, which are closed with it. */
export async function spreadDbOn(
  rowsOf: (partition: number) => Promise<OrderedRows>,
  { partitions, splits, by }: Omit<SpreadShape, 'splits'> & Partial<SpreadShape>,
  log: Log,
  { near = null, check }: { readonly near?: ReturnType<typeof nearPlan>; readonly check?: () => Promise<void> } = {},
): Promise<SpreadCrawlDb> {
  const open = new Map<number, QueryTables>();
  try {
    for (let partition = 0; partition < partitions; partition++) {
      const rows = await rowsOf(partition);
      // A link may arrive before the crawl db exists, which a reader must not create.
      if (!(await hasFormat(rows))) await rows.close();
      else {
        const name = `partition ${senderOf(partition)}`;
        const db = await openCrawlDbOn(rows, { name, isReadOnly: true, log, ...(near && { near }) });
        open.set(partition, check === undefined ? db : checked(db, check));
      }
    }
    return new SpreadCrawlDb(open, partitions, by, splits);
  } catch (error) {
    for (const db of open.values()) await db.close();
    throw error;
  }
}

/** After a partition was split, its crawl db lacks pages that readers with the old shape look for in it. */
function checked<Db extends CrawlDb>(db: Db, check: () => Promise<void>): Db {
  const [getMany, scan, changes] = [db.getMany.bind(db), db.scan.bind(db), db.changes.bind(db)];
  const ended = async function* <Row>(rows: AsyncIterable<Row>) {
    yield* rows;
    await check();
  };
  return Object.assign(db, {
    getMany: async (urls: readonly string[]) => {
      const found = await getMany(urls);
      await check();
      return found;
    },
    scan: (query?: ScanQuery) => ended(scan(query)),
    changes: (query?: ChangeQuery) => ended(changes(query)),
  });
}

/** Begins a crawl of `cluster.partitions` partitions in a state directory. Rejects as `requireSpread` does. */
export async function beginSpread(options: { readonly config: Config; readonly dir: string }): Promise<void> {
  const { config } = options;
  const { name, partitions, partitionBy } = config.cluster;
  const dir = resolve(options.dir);
  const store = await openStoreOf(config, dir);
  try {
    await makeStateFolder(dir);
    await requireSpread({ store, dir, name, partitions, partitionBy, segments: segmentsPlace(config) });
  } finally {
    await store.close();
  }
}
