import type { ReadMeter } from '../ports/crawl-db.ts';
import type { OnWork } from '../ports/work-progress.ts';

/** Phrases of several steps. */
export const READING_DUE = 'reading the due index';
export const READING_RECORDS = 'reading records';

/** A meter that reports the rows read so far; one for each phrase. */
export function workMeter(onWork: OnWork | undefined, work: string, total: number | null = null): ReadMeter {
  let done = 0;
  return {
    add(_index, rows) {
      done += rows;
      onWork?.({ work, done, total });
    },
  };
}

/** Items between two reports. */
const STEP = 100;

/** The same items; reports how many have been taken. */
export async function* counted<Item>(
  items: AsyncIterable<Item>,
  onWork: OnWork | undefined,
  work: string,
  total: number | null = null,
): AsyncGenerator<Item, void, undefined> {
  let done = 0;
  for await (const item of items) {
    yield item;
    if (++done % STEP === 0) onWork?.({ work, done, total });
  }
  onWork?.({ work, done, total });
}
