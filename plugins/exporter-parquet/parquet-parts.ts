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
