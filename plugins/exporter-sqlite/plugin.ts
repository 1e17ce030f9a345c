import { constants, copyFile, open, rename, rm, stat } from 'node:fs/promises';
import { definePlugin, type ExportSink, type ExportTarget } from 'incrawl/plugin';
import { z } from 'zod';
import { loadSqlite, type OpenSqlite, type SqliteDb } from './engine.ts';
import { createTables, rowOf, SCHEMA_VERSION, UPSERT } from './schema.ts';

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
 * Writes a new file, or a changed copy of the one that is there, and puts it in its place when it is whole. So readers
 * see one export or the next one, a killed export leaves the old file, and nothing has to be locked.
 */
export async function openExport(
  openSqlite: OpenSqlite,
  { place, isIncremental, partial }: Pick<ExportTarget, 'place' | 'isIncremental' | 'partial'>,
  { search }: Options,
): Promise<ExportSink> {
  if (place === null) throw new TypeError('a file is needed');
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

/** A file with a log beside it has changes that are not in it, of a program that is writing or was killed. */
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

/** A file with all that an engine puts beside it. */
async function removeAll(file: string): Promise<void> {
  for (const end of ['', '.lock', '-journal']) await rm(`${file}${end}`, { recursive: true, force: true });
}

/** Bytes of a file; 0 for none. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
