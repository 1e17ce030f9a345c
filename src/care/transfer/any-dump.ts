// care/transfer/: crawl dbs as lines of JSON, merged and cut into shares.

import { readDump } from './db-transfer.ts';
import type { DumpLine } from './dump-lines.ts';
import { isNutchDump, type NutchDumpOptions, readNutchDump } from './nutch-dump.ts';

/** Lines of an export of incrawl, or of a dump of Nutch, as the first line tells. */
export async function* readAnyDump(lines: AsyncIterable<string>, options: NutchDumpOptions): AsyncGenerator<DumpLine> {
  const source = lines[Symbol.asyncIterator]();
  const first = await source.next();
  async function* all(): AsyncGenerator<string> {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  try {
    yield* !first.done && isNutchDump(first.value) ? readNutchDump(all(), options) : readDump(all());
  } finally {
    await source.return?.();
  }
}
