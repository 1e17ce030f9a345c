import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileRobotsStore } from '../../../src/store/files/robots-store.ts';
import { temporaryFolders } from './temporary-folder.ts';

const newFolder = temporaryFolders();
const ENTRY = { text: 'User-agent: *\nDisallow: /ü\n', status: 200, fetchedAt: 5, usableAt: 5 };
const ORIGIN = 'https://a.example:8443';

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('files: robots store', () => {
  it('keeps one entry per origin for the next process', async () => {
    const dir = join(newFolder(), 'robots');
    const store = createFileRobotsStore(dir);
    expect(await store.load(ORIGIN)).toBeUndefined();
    await store.save(ORIGIN, { ...ENTRY, text: 'old' });
    await Promise.all([
      store.save(ORIGIN, ENTRY),
      store.save('http://b.example', { ...ENTRY, status: null, usableAt: null, fault: 'dns-failed: no such host' }),
    ]);
    const next = createFileRobotsStore(dir);
    expect(await next.load(ORIGIN)).toEqual(ENTRY);
    expect(await next.load('http://b.example')).toEqual({
      ...ENTRY,
      status: null,
      usableAt: null,
      fault: 'dns-failed: no such host',
    });
    expect(await next.load('https://a.example')).toBeUndefined();
    expect(filesBelow(dir)).toHaveLength(2);
  });

  it('takes a damaged file, or one of another origin, for none', async () => {
    const dir = newFolder();
    const store = createFileRobotsStore(dir);
    await store.save(ORIGIN, ENTRY);
    const [file = ''] = filesBelow(dir);
    const text = readFileSync(file, 'utf8');
    const damaged = [
      '',
      'null',
      '[]',
      text.slice(0, -4),
      text.replace('a.example', 'b.example'),
      text.replace('200', '"x"'),
    ];
    for (const each of damaged) {
      writeFileSync(file, each);
      expect(await store.load(ORIGIN)).toBeUndefined();
    }
    await store.save(ORIGIN, ENTRY);
    expect(await store.load(ORIGIN)).toEqual(ENTRY);
  });
});
