import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPlugin } from 'incrawl/plugin-testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import plugin from './plugin.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exporter-tree-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it('keeps the contract of its kind; what was removed is removed, and the list says so', async () => {
  const place = join(dir, 'pages');
  await testPlugin(plugin, { place });
  const files = (await readdir(place, { recursive: true })).sort();
  // Of three pages one has lost its response, and one was removed in the end; the one given up came back.
  expect(files).toEqual([
    'http_example.org',
    'http_example.org/index.html',
    expect.stringMatching(/^http_example\.org.missing~[0-9a-f]{12}\.bin$/),
    'index.jsonl',
  ]);
  const list = (await readFile(join(place, 'index.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(list.filter(({ deleted }) => deleted !== undefined)).toEqual([
    { deleted: 'http://example.org/', file: 'http_example.org/index.html' },
    { deleted: 'http://example.org/never', file: expect.stringMatching(/^http_example\.org\/never~/) },
  ]);
});

it('wants a folder', async () => {
  await expect(testPlugin(plugin)).rejects.toThrow('a folder is needed');
});
