import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceableFile } from 'incrawl/bundled';
import { definePlugin, type ExportDocument, type ExportSink, type RemovedPage } from 'incrawl/plugin';
import { z } from 'zod';
import { type DuckDb, type DuckDbAppender, loadDuckDb } from './duckdb.ts';

interface ParquetOptions {
  readonly compression: string;
  readonly rowGroupRows: number;
  readonly rowGroupBytes: number;
  readonly memoryMb: number;
}

interface ParquetParts {
  /** Adds a row. `append` adds its values in the order of the columns; `bytes` is its approximate size. */
  add(bytes: number, append: (appender: DuckDbAppender) => void): Promise<void>;
  /** The file appears. */
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** Limits of a part: bytes, and rows (a vector of DuckDB). */
const PART_BYTES = 8 * 1024 * 1024;
const PART_ROWS = 2_048;

const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;

/**
 * A Parquet file written row by row. Rows go into small files beside it, merged at the end: the memory of a single
 * table in DuckDB would grow with the rows up to its limit.
 */
async function openParquetParts(
  duckdb: DuckDb,
  place: string,
  columns: string,
  { compression, rowGroupRows, rowGroupBytes, memoryMb }: ParquetOptions,
): Promise<ParquetParts> {
  const folder = `${place}.parts`;
  const partial = `${place}.partial`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    temp_directory: join(folder, 'tmp'),
    // One thread keeps the order of rows even without `preserve_insertion_order`, which would forbid a limit of row
    // groups in bytes.
    threads: '1',
    preserve_insertion_order: 'false',
    // No downloads of extensions.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const parts: string[] = [];
  let appender: DuckDbAppender | null = null;
  let rows = 0;
  let bytes = 0;

  async function writePart(): Promise<void> {
    appender?.closeSync();
    appender = null;
    if (rows === 0 && parts.length > 0) return;
    await connection.run(`CREATE TABLE IF NOT EXISTS pages (${columns})`);
    const part = join(folder, `${String(parts.length).padStart(6, '0')}.parquet`);
    await connection.run(`COPY pages TO ${quoted(part)} (FORMAT parquet, COMPRESSION snappy)`);
    // Dropped, not emptied: only that frees the memory of a table.
    await connection.run('DROP TABLE pages');
    parts.push(part);
    [rows, bytes] = [0, 0];
  }

  function release(): void {
    appender?.closeSync();
    connection.closeSync();
    instance.closeSync();
  }

  return {
    async add(size, append) {
      if (appender === null) {
        await connection.run(`CREATE TABLE pages (${columns})`);
        appender = await connection.createAppender('pages');
      }
      append(appender);
      appender.endRow();
      rows++;
      bytes += size;
      if (rows >= PART_ROWS || bytes >= PART_BYTES) await writePart();
    },
    async close() {
      await writePart();
      const bounds = `ROW_GROUP_SIZE ${rowGroupRows}, ROW_GROUP_SIZE_BYTES ${rowGroupBytes}`;
      await connection.run(
        `COPY (SELECT * FROM read_parquet([${parts.map(quoted).join(', ')}])) TO ${quoted(partial)} (FORMAT parquet, COMPRESSION ${compression}, ${bounds})`,
      );
      release();
      await rename(partial, place);
      await rm(folder, { recursive: true, force: true });
    },
    async abandon() {
      release();
      await rm(partial, { force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const options = z.strictObject({
  compression: z
    .enum(['zstd', 'snappy', 'gzip', 'uncompressed'])
    .default('zstd')
    .describe('Compression of the column chunks.'),
  rowGroupRows: z.number().int().min(1_000).max(1_000_000).default(20_000).describe('Most rows in a row group.'),
  rowGroupBytes: z
    .number()
    .int()
    .min(100_000)
    .default(16_000_000)
    .describe('Largest size of a row group, bytes before compression.'),
  memoryMb: z.number().int().min(64).default(192).describe('Memory limit of DuckDB, megabytes.'),
});
type Options = z.infer<typeof options>;

const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['url', 'VARCHAR'],
  ['state', 'VARCHAR'],
  ['fetchedAt', 'TIMESTAMPTZ'],
  ['changedAt', 'TIMESTAMPTZ'],
  ['status', 'INTEGER'],
  ['contentType', 'VARCHAR'],
  ['title', 'VARCHAR'],
  ['lang', 'VARCHAR'],
  ['text', 'VARCHAR'],
  ['signature', 'VARCHAR'],
  ['digest', 'VARCHAR'],
  ['depth', 'INTEGER'],
  ['outlinks', 'VARCHAR[]'],
  ['metadata', 'VARCHAR'],
  ['authors', 'VARCHAR[]'],
  ['publishedAt', 'TIMESTAMPTZ'],
  ['modifiedAt', 'TIMESTAMPTZ'],
  ['description', 'VARCHAR'],
  ['keywords', 'VARCHAR[]'],
  ['siteName', 'VARCHAR'],
  ['image', 'VARCHAR'],
  ['textSource', 'VARCHAR'],
  ['nextPage', 'VARCHAR'],
  ['pageNumber', 'INTEGER'],
  ['topics', 'VARCHAR[]'],
  ['deleted', 'BOOLEAN'],
];

export default definePlugin<'exporter', Options>({
  name: 'exporter-parquet',
  api: 1,
  options,
  setup: (_host, given) => ({
    format: 'parquet',
    fileExtension: 'parquet',
    needsPlace: 'a file',
    open: async ({ place }) => {
      const file = await replaceableFile(place);
      return openParquet(loadDuckDb(), file, given);
    },
  }),
});

async function openParquet(duckdb: DuckDb, place: string, given: Options): Promise<ExportSink> {
  const columns = COLUMNS.map(([name, type]) => `"${name}" ${type}`).join(', ');
  const parts = await openParquetParts(duckdb, place, columns, given);
  return {
    document: (page) => parts.add(sizeOf(page), (appender) => appendPage(duckdb, appender, page)),
    removed: (page) => parts.add(ROW_BYTES, (appender) => appendRemoved(appender, page)),
    close: () => parts.close(),
    abandon: () => parts.abandon(),
  };
}

/** Approximate size of a row beside its text, bytes. */
const ROW_BYTES = 400;
const sizeOf = ({ text, outlinks }: ExportDocument): number => ROW_BYTES + (text?.length ?? 0) + 100 * outlinks.length;

function appendRemoved(appender: DuckDbAppender, { url, state }: RemovedPage): void {
  for (const [name] of COLUMNS) {
    if (name === 'url' || name === 'state') appender.appendVarchar(name === 'url' ? url : state);
    else if (name === 'deleted') appender.appendBoolean(true);
    else appender.appendNull();
  }
}

function appendPage(duckdb: DuckDb, appender: DuckDbAppender, page: ExportDocument): void {
  const text = (value: string | null): void => (value === null ? appender.appendNull() : appender.appendVarchar(value));
  const number = (value: number | null): void =>
    value === null ? appender.appendNull() : appender.appendInteger(value);
  const time = (value: string | null): void =>
    value === null
      ? appender.appendNull()
      : appender.appendTimestampTZ(new duckdb.DuckDBTimestampTZValue(BigInt(Date.parse(value)) * 1_000n));
  const list = (values: readonly string[]): void =>
    appender.appendList(duckdb.listValue(values), duckdb.LIST(duckdb.VARCHAR));
  text(page.url);
  text(page.state);
  time(page.fetchedAt);
  time(page.changedAt);
  number(page.status);
  text(page.contentType);
  text(page.title);
  text(page.lang);
  text(page.text);
  text(page.signature);
  text(page.digest);
  number(page.depth);
  list(page.outlinks);
  text(JSON.stringify(page.metadata));
  list(page.authors);
  time(page.publishedAt);
  time(page.modifiedAt);
  text(page.description);
  list(page.keywords);
  text(page.siteName);
  text(page.image);
  text(page.textSource);
  text(page.nextPage);
  number(page.pageNumber);
  list(page.topics);
  appender.appendBoolean(false);
}
