import type { ExportDocument } from 'incrawl/plugin';
import type { SqliteDb, SqliteValue } from './engine.ts';

/** Raised with each change of the schema (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 1;

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

/** `id` is the number of a row in the index of the search; it is not kept when an export begins a new file. */
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

export function createTables(db: SqliteDb, withSearch: boolean): void {
  db.exec(TABLES);
  if (withSearch) db.exec(SEARCH);
}

/** Adds a page, or replaces one of the same URL. A row that is the same stays untouched, and so does the search. */
export const UPSERT = `
INSERT INTO pages (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
ON CONFLICT (url) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}
WHERE (${listed('pages')}) IS NOT (${listed('excluded')})`;

/** The values of {@link UPSERT}. Lists and metadata are JSON. */
export function rowOf(page: ExportDocument): SqliteValue[] {
  return names.map((name) => {
    const value = page[name];
    if (value === null || typeof value === 'number') return value;
    return plain(typeof value === 'string' ? value : JSON.stringify(value));
  });
}

/** SQLite ends a text at NUL in many places, and has no half surrogate pairs. */
const plain = (text: string): string => text.replace(/[\u0000\p{Surrogate}]/gu, '\ufffd');
