import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExportDocument, ExportSink } from 'incrawl/plugin';
import { madeDocument, testPlugin } from 'incrawl/plugin-testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite, type OpenSqlite } from '../../../plugins/exporter-sqlite/engine.ts';
import plugin, { openExport } from '../../../plugins/exporter-sqlite/plugin.ts';

const openSqlite = ((): OpenSqlite | null => {
  try {
    return loadSqlite();
  } catch {
    return null;
  }
})();

let dir = '';
let place = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exporter-sqlite-'));
  place = join(dir, "pages' of.sqlite");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const page = (url: string, more: Partial<ExportDocument> = {}): ExportDocument =>
  madeDocument(url, { fetchedAt: '2026-03-01T08:00:00.000Z', text: `text of ${url}`, ...more });
const url = (name: string): string => `http://e.example/${name}`;
const noContent = { response: async () => null, markdown: async () => null };
const removal = (name: string) => ({ url: url(name), state: 'gone', target: null, contentType: null });

const openSink = (isIncremental = false, search = true): Promise<ExportSink> =>
  openExport(openSqlite!, { place, isIncremental, partial: (file) => `${file}.partial` }, { search });

async function exported(pages: readonly ExportDocument[], isIncremental = false, search = true): Promise<void> {
  const sink = await openSink(isIncremental, search);
  for (const each of pages) await sink.document(each, noContent);
  await sink.close();
}

/** All rows of a question, as one JSON text, so that each engine answers the same. */
function ask(expression: string, from: string): unknown {
  const db = openSqlite!(place);
  try {
    return JSON.parse(String(db.get(`SELECT json_group_array(${expression}) AS rows FROM (${from})`)?.rows));
  } finally {
    db.close();
  }
}
const urls = (): unknown => ask('url', 'SELECT url FROM pages ORDER BY url');
const found = (words: string): unknown =>
  ask('url', `SELECT url FROM pages JOIN search ON search.rowid = pages.id WHERE search MATCH '${words}' ORDER BY url`);

describe.skipIf(openSqlite === null)('SQLite (skipped unless "incrawl packages install sqlite" was run)', () => {
  it('keeps the contract of its kind; what was written is read back by SQL, and nothing else is left', async () => {
    await testPlugin(plugin, { place });
    expect(await readdir(dir)).toEqual(["pages' of.sqlite"]);
    const second = 'https://example.org/a/b%20c/CON?x=1&y=%2F..%2F';
    expect(urls()).toEqual(['http://example.org/missing', second]);
    const text = 'Text of a page\r\nin two lines, <b>not bold</b>, \ufffd\u202e \ufffd';
    const row = `json_object('title', title, 'text', text, 'depth', depth, 'note', metadata ->> 'note', 'at', changedAt)`;
    expect(ask(`json(${row})`, `SELECT * FROM pages WHERE lang = 'en'`)).toEqual([
      { title: '=1+1', text, depth: 3, note: 'x,"y"\n', at: '2026-01-01T00:00:00.000Z' },
    ]);
    expect(ask('target', `SELECT target FROM links WHERE url = '${second}'`)).toEqual(['http://example.org/']);
    expect(found('bold')).toEqual([second]);
  });

  it('an incremental export changes what it names, and the search with it', async () => {
    await exported(['a', 'b', 'c'].map((name) => page(url(name), { text: `word ${name}x` })));
    const sink = await openSink(true);
    await sink.document(page(url('b'), { text: 'other dx' }), noContent);
    await sink.document(page(url('e'), { text: 'word ex' }), noContent);
    for (const name of ['c', 'never']) await sink.removed(removal(name));
    await sink.close();
    expect(urls()).toEqual(['a', 'b', 'e'].map(url));
    expect([found('word'), found('bx OR cx'), found('dx')]).toEqual([['a', 'e'].map(url), [], [url('b')]]);
    const db = openSqlite!(place);
    db.exec(`INSERT INTO search(search) VALUES ('integrity-check')`);
    expect(db.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    db.close();
  });

  it('a row that is the same is not written again', async () => {
    await exported(['a', 'b'].map((name) => page(url(name))));
    const db = openSqlite!(place);
    db.exec(`CREATE TABLE written (url TEXT);
      CREATE TRIGGER noted AFTER UPDATE ON pages BEGIN INSERT INTO written VALUES (new.url); END;`);
    db.close();
    await exported([page(url('a')), page(url('b'), { keywords: ['x'], title: 'Now' })], true);
    expect(ask('url', 'SELECT url FROM written')).toEqual([url('b')]);
  });

  it('a full export begins a new file; one that fails leaves the old one, and nothing beside it', async () => {
    await exported([page(url('a'))]);
    await exported([page(url('b'))], false, false);
    expect(urls()).toEqual([url('b')]);
    expect(() => found('text')).toThrow('search');
    const sink = await openSink(true);
    await sink.removed(removal('b'));
    await sink.abandon?.();
    expect(urls()).toEqual([url('b')]);
    expect(await readdir(dir)).toEqual(["pages' of.sqlite"]);
  });

  it('begins a file where an incremental export finds none', async () => {
    await exported([page(url('a'))], true);
    expect(urls()).toEqual([url('a')]);
  });

  it('refuses a file of another kind, and one that another program writes to', async () => {
    const db = openSqlite!(place);
    db.exec('CREATE TABLE pages (x)');
    db.close();
    await expect(openSink(true)).rejects.toThrow('no table of pages of version 1 (user_version 0)');
    await exported([page(url('a'))]);
    await writeFile(`${place}-wal`, 'changes');
    await expect(openSink(true)).rejects.toThrow('another program writes');
    await rm(`${place}-wal`);
    await writeFile(place, 'no database, whatever its name says');
    await expect(openSink(true)).rejects.toThrow(/not a database/);
    expect(await readdir(dir)).toEqual(["pages' of.sqlite"]);
  });
});

describe('the engine', () => {
  it('is that of Node where there is one, else the package, which the error names', () => {
    const load = (): never => {
      throw new Error('asked for the package');
    };
    expect(() => loadSqlite(load, null)).toThrow('asked for the package');
    expect(loadSqlite(load, { DatabaseSync: class {} } as never)).toBeTypeOf('function');
  });
});
