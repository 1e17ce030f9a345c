import type { Log } from '../../../core/ports/log.ts';
import { COUNTERS_KEY, ROW, rowRange } from '../codecs/keys.ts';
import { existMany, type Rows } from '../rows.ts';
import type { RowSink } from './row-watchers.ts';

/** Present while an import is under way: part of a crawl db would look like a whole one. */
const IMPORTING_KEY = `${ROW.meta}importing`;

export const IMPORT_CUT_SHORT = 'an import was cut short; open the crawl db again, which removes its rows';

export function stageImporting(sink: RowSink, isImporting: boolean): void {
  if (isImporting) sink.put(IMPORTING_KEY, Buffer.from('1'));
  else sink.del(IMPORTING_KEY);
}

/** Whether an import is under way, or was cut short. */
export const isHalfImported = async (rows: Rows): Promise<boolean> =>
  (await existMany(rows, [IMPORTING_KEY]))[0] === true;

/**
 * Empties a crawl db whose import was cut short: it was empty before. Killed half way, it is repeated at the next
 * start.
 */
export async function undoHalfImport(rows: Rows, name: string, log: Log): Promise<void> {
  if (!(await isHalfImported(rows))) return;
  log.warn('an import was cut short; its rows are removed', { name });
  for (const kind of Object.values(ROW)) {
    if (kind === ROW.meta) continue;
    const { from, to } = rowRange(kind);
    await rows.clear({ gte: from, lt: to });
  }
  await rows.batch(
    [COUNTERS_KEY, IMPORTING_KEY].map((key) => ({ type: 'del', key })),
    { sync: true },
  );
}
