import { unknownVersion } from '../../core/domain/errors.ts';
import type { Database } from './database.ts';
import type { PgQuery, PgResult } from './pg.ts';
import { isNoTable } from './postgres-errors.ts';

type Run = (query: PgQuery) => Promise<PgResult>;

/** Key of the advisory lock under which the schema is created and upgraded: `incrawl` in ASCII. */
export const SCHEMA_LOCK = '29672313846620268';

/**
 * The steps from each version to the next one; the first creates the schema. `batch` is the id of the last batch of a
 * name: a writer whose connection broke learns from it whether the batch was committed. The lease is in a table of its
 * own, so that a heartbeat does not wait for a batch. Its row also holds the turn of the partition: `wanted` is the
 * time at which it may be taken, null if nobody wants it; `asked` counts how often it was wanted; `failures` and
 * `fault` describe the attempts since the last success. For people, `resting` says what the last turn has left, and the
 * row of a worker how it fares. All three tables are updated in place all the time, so their pages keep free space for
 * it (heap-only tuples).
 */
export const SCHEMA_STEPS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE incrawl.names (
       part integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, id text,
       token bigint NOT NULL DEFAULT 0, batch uuid
     ) WITH (fillfactor = 50)`,
    `CREATE TABLE incrawl.leases (
       part integer PRIMARY KEY, holder text, until timestamptz NOT NULL DEFAULT '-infinity',
       wanted timestamptz, asked bigint NOT NULL DEFAULT 0, failures integer NOT NULL DEFAULT 0, fault text,
       resting text
     ) WITH (fillfactor = 50)`,
    `CREATE TABLE incrawl.workers (
       crawl text COLLATE "C", worker uuid, until timestamptz NOT NULL,
       since timestamptz NOT NULL DEFAULT clock_timestamp(), heard timestamptz NOT NULL DEFAULT clock_timestamp(),
       report text, fault text, PRIMARY KEY (crawl, worker)
     ) WITH (fillfactor = 50)`,
  ],
];

/**
 * A schema that is removed and made again reuses no number, so a process that remembers one never meets another crawl.
 */
const FIRST_PART = `SELECT setval(pg_get_serial_sequence('incrawl.names', 'part'), 1 + floor(random() * 1e9)::bigint)`;

/** Brings the schema to the version of this program. Rejects with `db-version` if it cannot. */
export async function upgradeSchema(db: Database, steps = SCHEMA_STEPS): Promise<void> {
  if ((await schemaVersion(db, steps)) === steps.length) return;
  await db.patiently(() =>
    db.transaction(async (run) => {
      await run({ text: `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})` });
      await run({ text: 'CREATE SCHEMA IF NOT EXISTS incrawl' });
      await run({ text: 'CREATE TABLE IF NOT EXISTS incrawl.format (version integer NOT NULL)' });
      const { rows } = await run({ text: 'SELECT version FROM incrawl.format' });
      // Another process may have created or upgraded the tables meanwhile.
      const from = known(Number(rows[0]?.[0] ?? 0), steps);
      for (const step of steps.slice(from)) for (const text of step) await run({ text });
      if (from === 0) await run({ text: FIRST_PART });
      await run({ text: 'DELETE FROM incrawl.format' });
      await run({ text: 'INSERT INTO incrawl.format VALUES ($1)', values: [steps.length] });
    }),
  );
}

/** 0: there is no schema yet. */
export async function schemaVersion(db: Database, steps = SCHEMA_STEPS): Promise<number> {
  const { rows } = await db.query({ text: 'SELECT version FROM incrawl.format' }).catch((error: unknown) => {
    if (!isNoTable(error)) throw error;
    return { rows: [] };
  });
  return known(Number(rows[0]?.[0] ?? 0), steps);
}

function known(version: number, steps: typeof SCHEMA_STEPS): number {
  if (version > steps.length) throw unknownVersion('the tables in PostgreSQL have version', version, steps.length);
  return version;
}

/** Whether the tables exist in the version of this program. */
export async function hasTables(db: Database): Promise<boolean> {
  if (!upToDate.has(db) && (await schemaVersion(db)) === SCHEMA_STEPS.length) upToDate.add(db);
  return upToDate.has(db);
}

/** The table of the rows of a part. */
export const tableOf = (part: number): string => `incrawl.rows_${part}`;

/** Creates the table of a name if none is known; resolves with its part. */
export async function ensurePart(db: Database, name: string): Promise<number> {
  const known = await knownPart(db, name);
  if (known !== null) return known;
  await upgradeSchema(db);
  return db.patiently(() =>
    db.transaction(async (run) => {
      await run({ text: `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})` });
      await run({ text: 'INSERT INTO incrawl.names (name) VALUES ($1) ON CONFLICT DO NOTHING', values: [name] });
      const { rows } = await run({ text: 'SELECT part FROM incrawl.names WHERE name = $1', values: [name] });
      const part = Number(rows[0]?.[0]);
      await run({ text: 'INSERT INTO incrawl.leases (part) VALUES ($1) ON CONFLICT DO NOTHING', values: [part] });
      await createTable(run, part);
      return part;
    }),
  );
}

/**
 * Databases whose schema was seen at the version of this program. The version never falls, but the schema may be
 * removed.
 */
const upToDate = new WeakSet<Database>();

const partsOf = new WeakMap<Database, Map<string, number>>();

/** Forgets the part of a name that no longer has rows. */
export const forgetPart = (db: Database, name: string): boolean => partsOf.get(db)?.delete(name) ?? false;

/** As {@link partOf}, from memory where the name was looked up before. */
export async function knownPart(db: Database, name: string): Promise<number | null> {
  return partsOf.get(db)?.get(name) ?? partOf(db, name);
}

/**
 * Uses the part of a name. If tables that this process remembers were removed since, they are created anew.
 */
export async function withPart<Value>(
  db: Database,
  name: string,
  use: (part: number) => Promise<Value>,
): Promise<Value> {
  try {
    return await use(await ensurePart(db, name));
  } catch (error) {
    if (!isNoTable(error)) throw error;
    upToDate.delete(db);
    partsOf.delete(db);
    return use(await ensurePart(db, name));
  }
}

/** `null`: nothing has been stored under the name. */
export async function partOf(db: Database, name: string): Promise<number | null> {
  if (!(await hasTables(db)) && (await schemaVersion(db)) === 0) return null;
  const asked = { text: 'SELECT part FROM incrawl.names WHERE name = $1', values: [name] };
  const { rows } = await db.query(asked).catch((error: unknown) => {
    if (!isNoTable(error)) throw error;
    upToDate.delete(db);
    return { rows: [] };
  });
  const parts = partsOf.get(db) ?? new Map<string, number>();
  partsOf.set(db, parts);
  const part = rows[0]?.[0];
  if (part === undefined) parts.delete(name);
  else parts.set(name, Number(part));
  return part === undefined ? null : Number(part);
}

/**
 * Vacuum must keep up with due entries that move, so a tenth of the rows triggers it. Stored links are compressed in
 * their row rather than moved out of it.
 */
export async function createTable(run: Run, part: number): Promise<void> {
  await run({
    text: `CREATE TABLE IF NOT EXISTS ${tableOf(part)} (key bytea PRIMARY KEY, value bytea NOT NULL)
      WITH (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.1, toast_tuple_target = 4080)`,
  });
}
