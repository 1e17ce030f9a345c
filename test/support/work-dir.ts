import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removedAfterThisFile } from './ends.ts';

/** An empty working directory; removed after the tests of the file. */
export function workDir(): string {
  return removedAfterThisFile(mkdtempSync(join(tmpdir(), 'incrawl-test-')));
}
