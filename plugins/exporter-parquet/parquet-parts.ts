import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDb, DuckDbAppender } from './duckdb.ts';

export interface ParquetOptions {
  readonly compression: string;
  readonly rowGroupRows: number;
  readonly rowGroupBytes: number;
  readonly memoryMb: number;
}

export interface ParquetParts {
  /** Adds a row, whose values `append` gives in the order of the columns; `bytes` is about its size. */
  add(bytes: number, append: (appender: DuckDbAppender) => void): Promise<void>;
  /** The file appears. */
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** A part is written when it has so many bytes, or so many rows (a vector of DuckDB). */
const PART_BYTES = 8 * 1024 * 1024;
const PART_ROWS = 2_048;

const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;

/**
 * A Parquet file that grows by rows. They go into small files beside it, which become one at the end: one table in
 * DuckDB would take more memory the more rows there are, and fail at its limit.
 */
export async function openParquetParts(
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
    // With one thread rows keep their order all the same, and row groups may be bounded by bytes.
    threads: '1',
    preserve_insertion_order: 'false',
    // Nothing is looked for on the network.
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
    // Dropped, not emptied: what a table held is given back with it.
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
