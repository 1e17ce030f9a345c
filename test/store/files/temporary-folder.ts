import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A function that makes fresh folders, all removed after the tests of the file. */
export function temporaryFolders(): () => string {
  const made: string[] = [];
  afterAll(() => {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    const dir = mkdtempSync(join(tmpdir(), 'incrawl-files-'));
    made.push(dir);
    return dir;
  };
}

export const WARC_OPTIONS = {
  software: 'incrawl/test',
  operator: 'me@example.org',
  maxFileBytes: 1 << 30,
  gzipLevel: 1,
};
