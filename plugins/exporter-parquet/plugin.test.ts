import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPlugin } from 'incrawl/plugin-testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDuckDb } from './duckdb.ts';
import plugin from './plugin.ts';

const isInstalled = ((): boolean => {
  try {
    createRequire(import.meta.url).resolve('@duckdb/node-api');
    return true;
  } catch {
    return false;
  }
})();

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exporter-parquet-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface Reader {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Record<string, unknown>[] }>;
}

describe.skipIf(!isInstalled)('Parquet (skipped unless @duckdb/node-api is installed)', () => {
  it('keeps the contract of its kind; what was written is read back by SQL, and nothing else is left', async () => {
    const place = join(dir, "pages' of.parquet");
    await testPlugin(plugin, { place });
    expect(await readdir(dir)).toEqual(["pages' of.parquet"]);
    const { DuckDBInstance } = await loadDuckDb();
    const instance = await DuckDBInstance.create(':memory:');
    const connection = (await instance.connect()) as unknown as Reader;
    const from = `FROM '${place.replaceAll("'", "''")}'`;
    const rows = await connection.runAndReadAll(`SELECT * ${from} ORDER BY deleted, url`);
    const [first, , third, fourth] = rows.getRowObjectsJS();
    expect(rows.getRowObjectsJS()).toHaveLength(5);
    expect(first).toMatchObject({
      url: 'http://example.org/',
      title: 'A "title",\nwith\ttroubles',
      fetchedAt: new Date(Date.UTC(2026, 0, 1)),
      status: 200,
      outlinks: [],
      metadata: '{}',
      deleted: false,
    });
    expect(third).toMatchObject({ title: '=1+1', depth: 3, outlinks: ['http://example.org/'] });
    expect(fourth).toMatchObject({ url: 'http://example.org/', state: 'gone', title: null, deleted: true });
    const depth = await connection.runAndReadAll(`SELECT max(depth)::INTEGER AS depth ${from} WHERE lang = 'en'`);
    expect(depth.getRowObjectsJS()).toEqual([{ depth: 3 }]);
    instance.closeSync();
  });
});

it('says what is missing', async () => {
  await expect(testPlugin(plugin)).rejects.toThrow('--output FILE');
  await expect(loadDuckDb('@duckdb/nothing')).rejects.toThrow('npm install @duckdb/nothing');
});
