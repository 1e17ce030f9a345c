import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import type { Log } from '../../../src/core/ports/log.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import { afterThisTest } from '../../support/ends.ts';

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A folder for a db, removed after the test. Its databases must be closed by then. */
export async function temporaryDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'incrawl-db-'));
  afterThisTest(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'db');
}

export function openAt(dir: string): Promise<CrawlDb> {
  return openLevelCrawlDb({ dir, log: SILENT });
}
