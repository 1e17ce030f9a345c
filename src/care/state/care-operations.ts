import type { CrawlDeps } from '../../operations/deps.ts';
import { type PruneOptions, type PruneSummary, pruneSegments } from './prune-segments.ts';

/** Maintenance of an open crawl; backup, verification and repair work on the state directory itself. */
export interface CareOperations {
  /** Removes segments that are no longer needed. */
  pruneSegments(options: Omit<PruneOptions, 'now'>): Promise<PruneSummary>;
}

export function careOperations({
  runtime,
  segments,
  store,
}: Pick<CrawlDeps, 'runtime' | 'segments' | 'store'>): CareOperations {
  return {
    pruneSegments: (options) => {
      const { clock, onWork } = runtime;
      return pruneSegments({ db: store().db, segments, onWork }, { ...options, now: clock.now() });
    },
  };
}
