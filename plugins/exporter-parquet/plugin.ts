import { definePlugin, type ExportDocument, type ExportSink, type RemovedPage } from 'incrawl/plugin';
import { z } from 'zod';
import { type DuckDb, type DuckDbAppender, loadDuckDb } from './duckdb.ts';
import { openParquetParts } from './parquet-parts.ts';

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
      if (place === null) throw new TypeError('a file is needed');
      return openParquet(loadDuckDb(), place, given);
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
