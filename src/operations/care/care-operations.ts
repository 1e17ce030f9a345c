import type { CrawlDeps } from '../deps.ts';
import { type PruneOptions, type PruneSummary, pruneSegments } from './prune-segments.ts';

/** Care that needs the open crawl; backups, verification and repair work on the state directory itself. */
export interface CareOperations {
  /** Removes segments of which nothing is needed any more. */
  pruneSegments(options: Omit<PruneOptions, 'now'>): Promise<PruneSummary>;
}

export function careOperations({
  runtime,
  segments,
  store,
}: Pick<CrawlDeps, 'runtime' | 'segments' | 'store'>): CareOperations {
  return {
    pruneSegments: (options) => pruneSegments({ db: store().db, segments }, { ...options, now: runtime.clock.now() }),
  };
}
