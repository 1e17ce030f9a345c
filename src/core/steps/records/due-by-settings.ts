// core/steps/records/: records found, counted and put in order.

import { dueFacts } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDb, DueEntry, ReadMeter } from '../../ports/crawl-db.ts';
import { MOST_MOVED, type NewSettings } from '../generate/settings-in-force.ts';

/** Entries whose records are read together. */
const WINDOW = 1_000;

export interface DueBySettings {
  readonly now: number;
  /** `null`: the next visits are those of the settings of now. */
  readonly settings: NewSettings | null;
  readonly only?: 'known';
  readonly meter?: ReadMeter | undefined;
}

/**
 * All due entries as they are once the next `generate` has applied the settings of now, which it does for as many pages
 * as here; nothing is written. Where there are new settings the entries do not come in the order of their times.
 */
export async function* dueBySettings(
  db: Pick<CrawlDb, 'due'>,
  { now, settings, only, meter }: DueBySettings,
): AsyncGenerator<DueEntry> {
  const query = {
    until: Number.MAX_SAFE_INTEGER,
    ...(only !== undefined && { only }),
    ...(meter !== undefined && { meter }),
  };
  let moved = 0;
  let window: DueEntry[] = [];
  const judged = async (): Promise<DueEntry[]> => {
    const entries = window;
    window = [];
    const puts = (await settings?.moved(entries.map(({ url }) => url))) ?? [];
    return entries.map((entry, i) => {
      const datum = puts[i]?.datum;
      if (datum === undefined || datum.nextFetchAt === null) return entry;
      moved++;
      return { ...dueFacts(datum), dueAt: datum.nextFetchAt };
    });
  };
  for await (const entry of db.due(query)) {
    if (settings === null || entry.isNew || entry.dueAt <= now || moved >= MOST_MOVED) yield entry;
    else if (window.push(entry) === WINDOW) yield* await judged();
  }
  yield* await judged();
}
