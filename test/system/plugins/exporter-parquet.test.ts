import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPackage } from 'incrawl/bundled';
import type { ExportDocument } from 'incrawl/plugin';
import { madeDocument, testHost, testPlugin } from 'incrawl/plugin-testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDuckDb } from '../../../plugins/exporter-parquet/duckdb.ts';
import plugin from '../../../plugins/exporter-parquet/plugin.ts';

const isInstalled = ((): boolean => {
  try {
    loadDuckDb();
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

describe.skipIf(!isInstalled)('Parquet (skipped unless "incrawl packages install duckdb" was run)', () => {
  it('keeps the contract of its kind; what was written is read back by SQL, and nothing else is left', async () => {
    const place = join(dir, "pages' of.parquet");
    await testPlugin(plugin, { place });
    expect(await readdir(dir)).toEqual(["pages' of.parquet"]);
    const { DuckDBInstance } = loadDuckDb();
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

  it('keeps the order of pages over many parts, and bounds its memory', async () => {
    const place = join(dir, 'many.parquet');
    const options = { memoryMb: 64, rowGroupBytes: 1_000_000 };
    const exporter = await plugin.setup(testHost, plugin.options?.parse(options) as never);
    if (!('open' in exporter)) throw new Error('it opens a sink');
    const write = async (): Promise<void> => {};
    const target = {
      place,
      isIncremental: false,
      software: 'test',
      crawl: { userAgent: 'test', operator: '', robots: 'classic' as const },
      write,
      partial: (file: string) => `${file}.partial`,
      sorted: (lines: AsyncIterable<string>) => lines,
    };
    const sink = await exporter.open(target);
    const noContent = { response: async () => null, markdown: async () => null };
    // More text than DuckDB may hold.
    for (let i = 0; i < 3_000; i++) await sink.document(pageOf(i, 40_000), noContent);
    await sink.close();
    const { DuckDBInstance } = loadDuckDb();
    const instance = await DuckDBInstance.create(':memory:');
    const connection = (await instance.connect()) as unknown as Reader;
    const rows = await connection.runAndReadAll(`SELECT url, length("text")::INTEGER AS size FROM '${place}'`);
    expect(rows.getRowObjectsJS()).toEqual(
      Array.from({ length: 3_000 }, (_, i) => ({ url: pageOf(i, 0).url, size: 40_000 })),
    );
    const groups = await connection.runAndReadAll(
      `SELECT count(DISTINCT row_group_id)::INTEGER AS groups FROM parquet_metadata('${place}')`,
    );
    expect(groups.getRowObjectsJS()[0]?.groups).toBeGreaterThan(1);
    instance.closeSync();
  });
});

const pageOf = (number: number, chars: number): ExportDocument =>
  madeDocument(`http://example.org/${number}`, { text: String.fromCharCode(97 + (number % 26)).repeat(chars) });

it('says what is missing', async () => {
  await expect(testPlugin(plugin)).rejects.toThrow('a file is needed');
  const nowhere = { own: tmpdir(), project: tmpdir(), folder: null };
  const missing = (): unknown => loadDuckDb((id, what) => loadPackage(id, what, nowhere));
  expect(missing).toThrow('Parquet needs the package @duckdb/node-api, which is not installed');
  expect(missing).toThrow('incrawl packages install duckdb');
});
