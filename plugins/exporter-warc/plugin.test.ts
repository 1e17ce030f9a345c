import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { testPlugin } from 'incrawl/plugin-testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import plugin from './plugin.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exporter-warc-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it('keeps the contract of its kind, on standard output', () => testPlugin(plugin));

it('keeps the contract of its kind, in a folder, and leaves nothing half done', async () => {
  const place = join(dir, 'archive') + sep;
  await testPlugin(plugin, { place, options: { maxFileBytes: 1 } });
  // Two responses and a requisite, each in a file of its own.
  expect((await readdir(place)).sort()).toEqual([
    'incrawl-20260101000000-00000.warc.gz',
    'incrawl-20260101000000-00001.warc.gz',
    'incrawl-20260101000000-00002.warc.gz',
    'incrawl-20260101000000.cdxj',
  ]);
  const index = (await readFile(join(place, 'incrawl-20260101000000.cdxj'), 'utf8')).trim().split('\n');
  expect(index.map((line) => line.split(' ', 2))).toEqual([
    ['org,example)/', '20260101000000'],
    ['org,example)/missing', '20260101000000'],
    ['org,example)/style.css?v=3', '20260101000000'],
  ]);
});
