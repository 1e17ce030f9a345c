import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { urlFromKey, urlKey } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { JudgedRecords } from '../../core/steps/update/dedup.ts';
import { linesOfFile, sortedLines } from '../../store/files/sorting/external-sort.ts';
import { LineFile } from '../near-grouping/files.ts';

export interface NamedRecords extends JudgedRecords {
  /** URLs that the last pass did not find in the crawl db. */
  readonly unknown: number;
}

/** Records read together. */
const CHUNK = 1_000;

/**
 * The records of the given URLs, each once, in key order; memory is one chunk.
 * @param folder existing, for temporary files
 */
export async function namedRecords(db: CrawlDb, urls: AsyncIterable<string>, folder: string): Promise<NamedRecords> {
  const path = join(folder, 'keys');
  const file = new LineFile(path);
  let [count, last, unknown] = [0, '', 0];
  try {
    for await (const key of sortedLines(keysOf(urls), { dir: folder })) {
      if (key === last) continue;
      last = key;
      count++;
      await file.add(key);
    }
    await file.end();
  } catch (error) {
    file.destroy();
    await rm(path, { force: true });
    throw error;
  }
  return {
    count,
    get unknown() {
      return unknown;
    },
    async *read(meter) {
      unknown = 0;
      for await (const keys of chunksOf(linesOfFile(path))) {
        const records = await db.getMany(keys.map(urlFromKey));
        meter.add('records', keys.length);
        for (const datum of records) {
          if (datum === undefined) unknown++;
          else yield datum;
        }
      }
    },
  };
}

async function* keysOf(urls: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const url of urls) yield urlKey(url);
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let chunk: string[] = [];
  for await (const line of lines) {
    if (chunk.push(line) < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
