import { rename, rm } from 'node:fs/promises';
import { definePlugin, type ExportDocument, type ExportSink } from 'incrawl/plugin';
import { z } from 'zod';
import { type DuckDb, type DuckDbAppender, loadDuckDb } from './duckdb.ts';

const options = z.strictObject({
  compression: z.enum(['zstd', 'snappy', 'gzip', 'uncompressed']).default('zstd').describe('Of the pages of columns.'),
  rowGroupRows: z.number().int().min(1_000).max(1_000_000).default(20_000).describe('Rows of a row group.'),
  memoryMb: z.number().int().min(64).default(256).describe('What DuckDB may hold in memory, megabytes.'),
});
type Options = z.infer<typeof options>;

/** Rows held back before they go to DuckDB's file. */
const FLUSH_ROWS = 1_000;

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
  ['deleted', 'BOOLEAN'],
];

export default definePlugin<'exporter', Options>({
  name: 'exporter-parquet',
  api: 1,
  options,
  setup: (_host, given) => ({
    format: 'parquet',
    fileExtension: 'parquet',
    open: async ({ place }) => {
      if (place === null) throw new Error('a file is needed: --output FILE');
      return openParquet(await loadDuckDb(), place, given);
    },
  }),
});

/** Rows gather in a database beside the file, so that memory does not grow with them, and become Parquet at the end. */
async function openParquet(duckdb: DuckDb, place: string, given: Options): Promise<ExportSink> {
  const database = `${place}.duckdb`;
  const partial = `${place}.partial`;
  const removeDatabase = async (): Promise<void> => {
    for (const file of [database, `${database}.wal`, `${database}.tmp`])
      await rm(file, { recursive: true, force: true });
  };
  await removeDatabase();
  const instance = await duckdb.DuckDBInstance.create(database, {
    memory_limit: `${given.memoryMb}MB`,
    threads: '2',
    // Nothing is looked for on the network.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE pages (${COLUMNS.map(([name, type]) => `"${name}" ${type}`).join(', ')})`);
  const appender = await connection.createAppender('pages');
  let rows = 0;
  const endRow = (): void => {
    appender.endRow();
    if (++rows % FLUSH_ROWS === 0) appender.flushSync();
  };
  const release = (): void => {
    appender.closeSync();
    connection.closeSync();
    instance.closeSync();
  };
  return {
    document(document) {
      appendPage(duckdb, appender, document);
      endRow();
    },
    removed({ url, state }) {
      for (const [name] of COLUMNS) {
        if (name === 'url' || name === 'state') appender.appendVarchar(name === 'url' ? url : state);
        else if (name === 'deleted') appender.appendBoolean(true);
        else appender.appendNull();
      }
      endRow();
    },
    async close() {
      appender.flushSync();
      const into = `'${partial.replaceAll("'", "''")}'`;
      await connection.run(
        `COPY pages TO ${into} (FORMAT parquet, COMPRESSION ${given.compression}, ROW_GROUP_SIZE ${given.rowGroupRows})`,
      );
      release();
      await rename(partial, place);
      await removeDatabase();
    },
    async abandon() {
      release();
      await rm(partial, { force: true });
      await removeDatabase();
    },
  };
}

function appendPage(duckdb: DuckDb, appender: DuckDbAppender, page: ExportDocument): void {
  const text = (value: string | null): void => (value === null ? appender.appendNull() : appender.appendVarchar(value));
  const number = (value: number | null): void =>
    value === null ? appender.appendNull() : appender.appendInteger(value);
  const time = (value: string | null): void =>
    value === null
      ? appender.appendNull()
      : appender.appendTimestampTZ(new duckdb.DuckDBTimestampTZValue(BigInt(Date.parse(value)) * 1_000n));
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
  appender.appendList(duckdb.listValue(page.outlinks), duckdb.LIST(duckdb.VARCHAR));
  text(JSON.stringify(page.metadata));
  appender.appendBoolean(false);
}
