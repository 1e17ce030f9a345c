import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { CrawlError } from '../../core/domain/errors.ts';
import type { LoadPackage } from '../../core/packages/find-package.ts';
import { openPool, type PgOptions, type PgPool, type PgPoolClient, type PgQuery, type PgResult } from './pg.ts';
import { isAway, isSpent, isStarting, postgresError } from './postgres-errors.ts';

/** The oldest supported version, as `server_version_num`: earlier ones are not tested. */
const OLDEST = 140_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Time that a call waits for a server that does not answer, ms. */
const PATIENCE_MS = 10_000;
/** Time that a call waits while the server says that it is starting, as after a crash, ms. */
const START_MS = 300_000;
const PAUSE_MS = 200;
/** Connections for single calls; a few serve a worker, because each call is short. */
const CALLS = 3;
/** Connections that are held while a snapshot is open. */
const SNAPSHOTS = 16;
/** Lifetime of a connection, s. Each keeps the plans of its prepared statements, so it must end from time to time. */
const LIFE_S = 1_800;
const IDLE_MS = 30_000;
const STATEMENT_MS = 120_000;

/**
 * Every statement has one sensible plan, over the primary key. Statistics of a table that is new or has just grown must
 * not lead to another plan. Synchronous commits are left as the server has them.
 */
const SETTINGS = `SELECT set_config('enable_seqscan', 'off', false), set_config('enable_sort', 'off', false),
  set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('client_encoding', 'UTF8', false), current_setting('server_version_num')::int`;

/** Connections to one database, made on demand. */
export class Database {
  readonly #calls: PgPool;
  /** Calls wait here rather than in the pool, whose connection timeout would include the wait. */
  readonly #turns = new PQueue({ concurrency: CALLS });
  readonly #snapshots: PgPool;
  /** Connections that have their settings. */
  readonly #ready = new WeakSet<PgPoolClient>();
  #closing: Promise<unknown> | null = null;

  /** Throws `CrawlError('package-missing')` if the optional package is not installed. */
  constructor(url: string, load?: LoadPackage) {
    const options: PgOptions = {
      connectionString: url,
      max: CALLS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: LIFE_S,
      keepAlive: true,
      application_name: 'incrawl',
      statement_timeout: STATEMENT_MS,
      allowExitOnIdle: true,
    };
    this.#calls = openPool(options, load);
    this.#snapshots = openPool({ ...options, max: SNAPSHOTS }, load);
  }

  /** Runs a statement that may be repeated; waits some seconds for a server that does not answer. */
  async query(query: PgQuery): Promise<PgResult> {
    return this.patiently(() => this.once(query));
  }

  /** Runs a statement once. Rejects with `postgres-unreachable` if it is not known whether it took effect. */
  async once(query: PgQuery): Promise<PgResult> {
    return this.#turns.add(async () => {
      const client = await this.#connect(this.#calls);
      return runAndRelease(client, () => resultOf(client, query));
    });
  }

  /** Runs statements in one transaction, once. */
  async transaction<Value>(use: (run: (query: PgQuery) => Promise<PgResult>) => Promise<Value>): Promise<Value> {
    return this.#turns.add(async () => {
      const client = await this.#connect(this.#calls);
      return runAndRelease(client, async () => {
        const run = (query: PgQuery): Promise<PgResult> => resultOf(client, query);
        await run({ text: 'BEGIN' });
        try {
          const value = await use(run);
          await run({ text: 'COMMIT' });
          return value;
        } catch (error) {
          await run({ text: 'ROLLBACK' }).catch(() => {});
          throw error;
        }
      });
    });
  }

  /** A connection of its own, to be released by the caller. Rejects with `CrawlError`. */
  async reserve(): Promise<PgPoolClient> {
    return this.patiently(() => this.#connect(this.#snapshots));
  }

  /** Repeats, for some seconds, what fails because the server does not answer. Rejects with `CrawlError`. */
  async patiently<Value>(attempt: () => Promise<Value>): Promise<Value> {
    const startedAt = performance.now();
    let seenAt = startedAt;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!isAway(error) || this.#closing !== null) throw postgresError(error);
        const now = performance.now();
        if (isStarting(error) && now - startedAt < START_MS) seenAt = now;
        if (now - seenAt > PATIENCE_MS) throw postgresError(error);
        await delay(PAUSE_MS);
      }
    }
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.allSettled([this.#calls.end(), this.#snapshots.end()]);
    await this.#closing;
  }

  async #connect(pool: PgPool): Promise<PgPoolClient> {
    const client = await pool.connect();
    if (this.#ready.has(client)) return client;
    try {
      const { rows } = await resultOf(client, { text: SETTINGS });
      const version = Number(rows[0]?.[5]);
      if (version < OLDEST) throw tooOld(version);
      this.#ready.add(client);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

/** What came is no answer to the statement: what the connection brings next may belong to another one. */
class UnreadableAnswer extends Error {}

/** Rejects an answer that is not that of one statement, as `UnreadableAnswer`. */
async function resultOf(client: PgPoolClient, query: PgQuery): Promise<PgResult> {
  const asked = client.query({ ...query, rowMode: 'array' });
  const result = await asked.catch((error: unknown) => {
    // What node-postgres throws at rows that do not fit their description.
    if (!(error instanceof TypeError)) throw error;
    throw new UnreadableAnswer(`its answer cannot be read: ${error.message}`, { cause: error });
  });
  if (Array.isArray(result.rows)) return result;
  throw new UnreadableAnswer('it answered one statement by several results');
}

/** A spent connection is not given to the next call. */
async function runAndRelease<Value>(client: PgPoolClient, use: () => Promise<Value>): Promise<Value> {
  let isOver = false;
  try {
    return await use();
  } catch (error) {
    isOver = error instanceof UnreadableAnswer || isSpent(error);
    throw error;
  } finally {
    client.release(isOver);
  }
}

function tooOld(version: number): CrawlError {
  const shown = `${Math.floor(version / 10_000)}.${version % 10_000}`;
  return new CrawlError('config-invalid', `PostgreSQL 14 or newer is needed, and the server is ${shown}`);
}
