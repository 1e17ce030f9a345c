import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesFromLast } from '../../../src/store/files/care/segment-care.ts';
import { temporaryFolders } from './temporary-folder.ts';

const newFolder = temporaryFolders();

it('files that a segment has by the time its mark is copied are copied too', () => {
  const dir = newFolder();
  const add = (...paths: readonly string[]): void => {
    for (const path of paths) {
      mkdirSync(join(dir, path, '..'), { recursive: true });
      writeFileSync(join(dir, path), '');
    }
  };
  add('segments/s1/data-0', 'segments/s1/segment.json', 'segments/s2/data-0', 'segments/s2/fetched', 'segments/list');
  add('segments/s2/segment.json', 'reports/r');
  const files = filesFromLast(dir, 'segments');
  const taken = [files.next().value];
  add('segments/s2/parsed', 'segments/s2/data-1', 'segments/s2/zone', 'segments/s3/segment.json');
  rmSync(join(dir, 'segments/s1/data-0'));
  taken.push(...files);
  expect(taken).toEqual([
    'segments/s2/segment.json',
    'segments/s2/parsed',
    'segments/s2/fetched',
    'segments/s2/data-1',
    'segments/s2/data-0',
    'segments/s1/segment.json',
    'segments/list',
  ]);
});

it('a missing folder has no files', () => {
  expect([...filesFromLast(newFolder(), 'webhooks')]).toEqual([]);
});
