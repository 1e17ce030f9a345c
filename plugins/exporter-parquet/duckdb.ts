import { type LoadPackage, loadPackage } from 'incrawl/bundled';

/** The used part of the optional package `@duckdb/node-api`. */
export interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options?: Readonly<Record<string, string>>): Promise<DuckDbInstance>;
  };
  readonly LIST: (type: unknown) => unknown;
  readonly VARCHAR: unknown;
  readonly listValue: (items: readonly string[]) => unknown;
  readonly DuckDBTimestampTZValue: new (micros: bigint) => unknown;
}

interface DuckDbInstance {
  connect(): Promise<DuckDbConnection>;
  closeSync(): void;
}

export interface DuckDbConnection {
  run(sql: string): Promise<unknown>;
  createAppender(table: string): Promise<DuckDbAppender>;
  closeSync(): void;
}

export interface DuckDbAppender {
  appendNull(): void;
  appendBoolean(value: boolean): void;
  appendInteger(value: number): void;
  appendVarchar(value: string): void;
  appendTimestampTZ(value: unknown): void;
  appendList(value: unknown, type: unknown): void;
  endRow(): void;
  closeSync(): void;
}

/** Throws an error that names the installing command if the package is missing. */
export function loadDuckDb(load: LoadPackage = loadPackage): DuckDb {
  return load('duckdb', 'Parquet').module as DuckDb;
}
