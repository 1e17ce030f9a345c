import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFileTree } from '../../../src/core/plugin-host/exporting/file-tree.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'file-tree-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function put(name: string): Promise<void> {
  const tree = await openFileTree(dir, true);
  await tree.put(name, 'text', { url: `http://a.example/${name}` });
  await tree.close();
}

const line = (name: string): string => `${JSON.stringify({ url: `http://a.example/${name}`, file: name })}\n`;
const list = (): Promise<string> => readFile(join(dir, 'index.jsonl'), 'utf8');

describe('the list of an incremental export', () => {
  it('goes on behind its last whole line, however long what a full disk has left of another one', async () => {
    await put('a.txt');
    await put('b.txt');
    await appendFile(join(dir, 'index.jsonl'), `{"url":"http://a.example/torn","title":"${'x'.repeat(200_000)}`);
    await put('c.txt');
    expect(await list()).toBe(['a.txt', 'b.txt', 'c.txt'].map(line).join(''));
  });

  it('begins an empty list where there is no complete line', async () => {
    await writeFile(join(dir, 'index.jsonl'), '{"url":');
    await put('a.txt');
    expect(await list()).toBe(line('a.txt'));
  });
});
