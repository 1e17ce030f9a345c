import type { Config } from '../../core/config/schema.ts';
import type { Log } from '../../core/ports/log.ts';
import { dueNow } from '../../core/steps/records/stats.ts';
import { hasFormat } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import { isAway, type SharedStore } from '../ports/shared-store.ts';
import { openCrawlStore } from '../servers/crawl-store.ts';
import { type WorkersView, workersView } from './workers-view.ts';

/** The workers of a shared crawl, to be watched from any machine that reaches its server. */
export interface WorkersWatch {
  /**
   * As of now, except due URLs, which are counted every ten seconds at most. `null`: the server has no crawl of this
   * name. Rejects with an error of the store.
   */
  read(): Promise<WorkersView | null>;
  close(): Promise<void>;
}

/**
 * Least age of counts of due URLs before they are taken again: in ms, and as a multiple of the time that counting took.
 */
const COUNT_MS = 10_000;
const COUNT_FACTOR = 20;

/** `null`: the configuration names no server. */
export function openWorkers({ cluster }: Config, log: Log): WorkersWatch | null {
  return cluster.store === '' ? null : watchOn(() => openCrawlStore(cluster), cluster.name, log);
}

function watchOn(open: () => Promise<SharedStore>, name: string, log: Log): WorkersWatch {
  let opened: Promise<SharedStore> | null = null;
  let due: ReadonlyMap<string, number> = new Map();
  let from = Number.NEGATIVE_INFINITY;
  const openOnce = (): Promise<SharedStore> => {
    opened ??= open().catch((error: unknown) => {
      // The next look tries again.
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    async read() {
      const store = await openOnce();
      const workers = await store.workers(name);
      if (workers === null) return null;
      const began = performance.now();
      if (began >= from) {
        due = await dueOf(store, workers.partitions, workers.at, log);
        const now = performance.now();
        from = now + Math.max(COUNT_MS, COUNT_FACTOR * (now - began));
      }
      return workersView(name, workers, due);
    },
    async close() {
      await (await opened?.catch(() => null))?.close();
    },
  };
}

async function dueOf(
  store: SharedStore,
  partitions: readonly { readonly name: string }[],
  now: number,
  log: Log,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of partitions) {
    const count = await countOf(store, name, now, log).catch((error: unknown) => {
      // Its server does not answer, or it is moving to another one.
      if (!isAway(error)) throw error;
      return null;
    });
    if (count !== null) counts.set(name, count);
  }
  return counts;
}

/** `null`: mail may arrive before the crawl db exists. */
async function countOf(store: SharedStore, name: string, now: number, log: Log): Promise<number | null> {
  const rows = store.rows(name, null);
  if (!(await hasFormat(rows))) {
    await rows.close();
    return null;
  }
  const db = await openCrawlDbOn(rows, { name, isReadOnly: true, log });
  return dueNow(db, now).finally(() => db.close());
}
