import { type LoadPackage, loadPackage } from 'incrawl/bundled';

export type SqliteValue = string | number | null;

/** The part of SQLite that is used, of either engine. */
export interface SqliteDb {
  exec(sql: string): void;
  get(sql: string): Readonly<Record<string, unknown>> | undefined;
  prepare(sql: string): (values: readonly SqliteValue[]) => void;
  close(): void;
}

export type OpenSqlite = (file: string) => SqliteDb;

interface BuiltIn {
  readonly DatabaseSync: new (
    file: string,
  ) => {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: SqliteValue[]): unknown;
      get(): Readonly<Record<string, unknown>> | undefined;
    };
    close(): void;
  };
}

interface Wasm {
  readonly Database: new (
    file: string,
  ) => {
    exec(sql: string): void;
    get(sql: string): Readonly<Record<string, unknown>> | null;
    prepare(sql: string): { run(values: readonly SqliteValue[]): unknown; finalize(): void };
    close(): void;
  };
}

/** Node's built-in SQLite if it exists (22.13 and later), otherwise the optional package. */
export function loadSqlite(load: LoadPackage = loadPackage, builtIn = builtInSqlite()): OpenSqlite {
  if (builtIn !== null) return (file) => openBuiltIn(builtIn, file);
  const wasm = load('sqlite', 'export --format sqlite').module as Wasm;
  return (file) => openWasm(wasm, file);
}

function builtInSqlite(): BuiltIn | null {
  return (process.getBuiltinModule('node:sqlite') as BuiltIn | undefined) ?? null;
}

function openBuiltIn({ DatabaseSync }: BuiltIn, file: string): SqliteDb {
  const db = new DatabaseSync(file);
  return {
    exec: (sql) => db.exec(sql),
    get: (sql) => db.prepare(sql).get(),
    prepare(sql) {
      const statement = db.prepare(sql);
      return (values) => void statement.run(...values);
    },
    close: () => db.close(),
  };
}

function openWasm({ Database }: Wasm, file: string): SqliteDb {
  const db = new Database(file);
  const statements: { finalize(): void }[] = [];
  return {
    exec: (sql) => db.exec(sql),
    get: (sql) => db.get(sql) ?? undefined,
    prepare(sql) {
      const statement = db.prepare(sql);
      statements.push(statement);
      return (values) => void statement.run(values);
    },
    close() {
      for (const statement of statements) statement.finalize();
      db.close();
    },
  };
}
