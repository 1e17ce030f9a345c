import { constants, copyFile, open, rename, rm, stat } from 'node:fs/promises';
import { replaceableFile } from 'incrawl/bundled';
import { definePlugin, type ExportDocument, type ExportSink, type ExportTarget } from 'incrawl/plugin';
import { z } from 'zod';
import { loadSqlite, type OpenSqlite, type SqliteDb, type SqliteValue } from './engine.ts';

/** Raised with each change of the schema (`PRAGMA user_version`). */
const SCHEMA_VERSION = 1;

/** Fields of a page in the order of the columns, and their types. */
const COLUMNS: readonly (readonly [field: keyof ExportDocument, type: string])[] = [
  ['url', 'TEXT NOT NULL UNIQUE'],
  ['state', 'TEXT NOT NULL'],
  ['fetchedAt', 'TEXT'],
  ['changedAt', 'TEXT'],
  ['status', 'INTEGER'],
  ['contentType', 'TEXT'],
  ['title', 'TEXT'],
  ['lang', 'TEXT'],
  ['text', 'TEXT'],
  ['signature', 'TEXT'],
  ['digest', 'TEXT'],
  ['depth', 'INTEGER NOT NULL'],
  ['outlinks', 'TEXT NOT NULL'],
  ['metadata', 'TEXT NOT NULL'],
  ['authors', 'TEXT NOT NULL'],
  ['publishedAt', 'TEXT'],
  ['modifiedAt', 'TEXT'],
  ['description', 'TEXT'],
  ['keywords', 'TEXT NOT NULL'],
  ['topics', 'TEXT NOT NULL'],
  ['siteName', 'TEXT'],
  ['image', 'TEXT'],
  ['textSource', 'TEXT'],
  ['nextPage', 'TEXT'],
  ['pageNumber', 'INTEGER'],
];

const names = COLUMNS.map(([field]) => field);
const others = names.filter((name) => name !== 'url');
const listed = (prefix: string): string => others.map((name) => `${prefix}.${name}`).join(', ');

/** `id` is the row number in the search index; it is not kept when an export begins a new file. */
const TABLES = `
CREATE TABLE pages (id INTEGER PRIMARY KEY, ${COLUMNS.map(([field, type]) => `${field} ${type}`).join(', ')});
CREATE VIEW links AS SELECT pages.url, json_each.value AS target FROM pages, json_each(pages.outlinks);
PRAGMA user_version = ${SCHEMA_VERSION};`;

/** A full-text index over the table, kept by triggers: https://sqlite.org/fts5.html#external_content_tables. */
const SEARCH = `
CREATE VIRTUAL TABLE search USING fts5(title, description, text, content=pages, content_rowid=id, tokenize='unicode61');
CREATE TRIGGER pages_added AFTER INSERT ON pages BEGIN
  INSERT INTO search(rowid, title, description, text) VALUES (new.id, new.title, new.description, new.text);
END;
CREATE TRIGGER pages_removed AFTER DELETE ON pages BEGIN
  INSERT INTO search(search, rowid, title, description, text)
    VALUES ('delete', old.id, old.title, old.description, old.text);
END;
CREATE TRIGGER pages_changed AFTER UPDATE OF title, description, text ON pages BEGIN
  INSERT INTO search(search, rowid, title, description, text)
    VALUES ('delete', old.id, old.title, old.description, old.text);
  INSERT INTO search(rowid, title, description, text) VALUES (new.id, new.title, new.description, new.text);
END;`;

function createTables(db: SqliteDb, withSearch: boolean): void {
  db.exec(TABLES);
  if (withSearch) db.exec(SEARCH);
}

/** Adds a page, or replaces the one with the same URL. An equal row stays untouched, and so does the search index. */
const UPSERT = `
INSERT INTO pages (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
ON CONFLICT (url) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}
WHERE (${listed('pages')}) IS NOT (${listed('excluded')})`;

/** The values of {@link UPSERT}. Lists and metadata are JSON. */
function rowOf(page: ExportDocument): SqliteValue[] {
  return names.map((name) => {
    const value = page[name];
    if (value === null || typeof value === 'number') return value;
    return plain(typeof value === 'string' ? value : JSON.stringify(value));
  });
}

/** SQLite ends a text at NUL in many places, and has no lone surrogates. */
const plain = (text: string): string => text.replace(/[\u0000\p{Surrogate}]/gu, '\ufffd');

const options = z.strictObject({
  search: z
    .boolean()
    .default(true)
    .describe('A full-text index over title, description and text (`search`), in new files.'),
});
type Options = z.infer<typeof options>;

export default definePlugin<'exporter', Options>({
  name: 'exporter-sqlite',
  api: 1,
  options,
  setup: (_host, given) => ({
    format: 'sqlite',
    fileExtension: 'sqlite',
    needsPlace: 'a file',
    open: (target) => openExport(loadSqlite(), target, given),
  }),
});

/**
 * Writes a new file, or a changed copy of the existing one, and moves it into place when it is complete. So readers see
 * one export or the next one, a killed export leaves the old file, and no lock is needed.
 */
export async function openExport(
  openSqlite: OpenSqlite,
  { place: output, isIncremental, partial }: Pick<ExportTarget, 'place' | 'isIncremental' | 'partial'>,
  { search }: Options,
): Promise<ExportSink> {
  const place = await replaceableFile(output);
  const file = partial(place);
  await removeAll(file);
  const isUpdate = isIncremental && (await sizeOf(place)) > 0;
  if (isUpdate) await copyWhole(place, file);
  const db = openSqlite(file);
  try {
    if (isUpdate) checkVersion(db, place);
    // The file is synced before it appears; until then no crash matters.
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
    db.exec('BEGIN');
    if (!isUpdate) createTables(db, search);
    const [upsert, remove] = [db.prepare(UPSERT), db.prepare('DELETE FROM pages WHERE url = ?')];
    return {
      document: (page) => upsert(rowOf(page)),
      removed: ({ url }) => remove([url]),
      async close() {
        db.exec('COMMIT');
        db.close();
        await synced(file);
        await rename(file, place);
      },
      async abandon() {
        db.close();
        await removeAll(file);
      },
    };
  } catch (error) {
    db.close();
    await removeAll(file);
    throw error;
  }
}

function checkVersion(db: SqliteDb, place: string): void {
  const { user_version: version } = db.get('PRAGMA user_version') ?? {};
  if (Number(version) === SCHEMA_VERSION) return;
  throw new Error(
    `${place} has no table of pages of version ${SCHEMA_VERSION} (user_version ${version}): export without --since first`,
  );
}

/** A file with a log beside it lacks changes from a program that is writing or was killed. */
async function copyWhole(place: string, file: string): Promise<void> {
  for (const log of [`${place}-wal`, `${place}-journal`]) {
    if ((await sizeOf(log)) > 0) {
      throw new Error(`${log} is there: another program writes to ${place}, or was killed while it did`);
    }
  }
  await copyFile(place, file, constants.COPYFILE_FICLONE);
}

async function synced(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.sync().finally(() => handle.close());
}

/** A file with everything that an engine puts beside it. */
async function removeAll(file: string): Promise<void> {
  for (const end of ['', '.lock', '-journal']) await rm(`${file}${end}`, { recursive: true, force: true });
}

/** Bytes of a file; 0 for none. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
