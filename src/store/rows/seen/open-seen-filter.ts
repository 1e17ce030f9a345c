// store/rows/seen/: the filter of seen URLs, kept in the batches of the crawl db.

import type { BloomPlan } from '../../../core/domain/url/bloom/bloom-leaf.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { SeenFilter, SharedSeenFilter } from '../../../core/ports/seen-filter.ts';
import type { Rows } from '../rows.ts';
import type { BatchWriter } from '../writing/batch-writer.ts';
import type { NewUrlWatcher } from '../writing/row-watchers.ts';
import { RowsSeenFilter } from './seen-filter.ts';
import { SEEN_TREE_KEY } from './seen-rows.ts';
import { SHARED_MARK_KEY, SharedFilterKeeper } from './shared-filter.ts';

export interface OpenSeenFilter {
  readonly filter: SeenFilter | null;
  /** To be given to the writer. */
  readonly watcher: NewUrlWatcher | null;
}

/**
 * Opens the filter of seen URLs: in rows of the crawl db, a shared one elsewhere, or none (`null`). A filter that is
 * not in use misses new URLs. So the first of them removes the row that marks it as complete, and its next use rebuilds
 * it.
 */
export async function openSeenFilter(
  rows: Rows,
  writer: BatchWriter,
  plan: BloomPlan | SharedSeenFilter | null,
  log: Log,
): Promise<OpenSeenFilter> {
  const deps = {
    rows,
    log,
    exclusive: <Value>(task: () => Promise<Value>) => writer.exclusive(task),
    urls: () => writer.counters().urls,
  };
  if (plan === null) return { filter: null, watcher: await voiding(rows, null, [SEEN_TREE_KEY, SHARED_MARK_KEY]) };
  if ('probe' in plan) {
    const filter = new SharedFilterKeeper({ ...deps, filter: plan });
    return { filter, watcher: await voiding(rows, filter, [SEEN_TREE_KEY]) };
  }
  const filter = new RowsSeenFilter({ ...deps, plan });
  return { filter, watcher: await voiding(rows, filter, [SHARED_MARK_KEY]) };
}

/**
 * @param watcher the filter in use
 * @param unused keys of the rows that mark the others as complete
 */
async function voiding(
  rows: Rows,
  watcher: NewUrlWatcher | null,
  unused: readonly string[],
): Promise<NewUrlWatcher | null> {
  const stored = await rows.hasMany([...unused]);
  const stale = unused.filter((_, i) => stored[i]);
  if (stale.length === 0) return watcher;
  return {
    stage: async (sink, urls) => {
      for (const key of stale) sink.del(key);
      await watcher?.stage(sink, urls);
    },
  };
}
