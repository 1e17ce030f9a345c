import { setTimeout as delay } from 'node:timers/promises';
import type { LoadPackage } from '../../core/packages/find-package.ts';
import { type TakenTurn, TURN_ATTEMPTS, TURN_PAUSES_MS, type TurnResult, type Turns } from '../ports/turns.ts';
import type { WorkerReport } from '../ports/workers.ts';
import type { Database } from './database.ts';
import { IS_HERE, refuseMoved } from './moves.ts';
import { openPool, type PgPool } from './pg.ts';
import { ensurePart, upgradeSchema } from './schema.ts';

const FREE = 'holder IS NULL OR until < clock_timestamp()';
/** Rows of the partitions of one crawl, whose names are the first parameter. */
const OF_CRAWL = 'part IN (SELECT part FROM incrawl.names WHERE name = ANY($1))';

const HAS_FAILED = `failures >= ${TURN_ATTEMPTS}`;

/** Also returns which of them are not here. */
const WANT = `WITH wanted AS (
    UPDATE incrawl.leases SET asked = asked + 1,
      wanted = CASE WHEN ${HAS_FAILED} THEN wanted ELSE least(coalesce(wanted, 'infinity'), clock_timestamp()) END
    WHERE part = ANY($1) AND ${IS_HERE}
  ) SELECT name, holder FROM incrawl.leases JOIN incrawl.names USING (part) WHERE part = ANY($1) AND NOT ${IS_HERE}`;
/** If several workers take turns at the same moment, each gets different ones: locked rows are skipped. */
const TAKE = `WITH next AS MATERIALIZED (
    SELECT part, name FROM incrawl.leases JOIN incrawl.names USING (part)
    WHERE name = ANY($1) AND wanted <= clock_timestamp() AND (${FREE})
    ORDER BY wanted LIMIT $2 FOR NO KEY UPDATE OF leases SKIP LOCKED
  ) UPDATE incrawl.leases SET wanted = clock_timestamp() + $3 * interval '1 millisecond'
  FROM next WHERE leases.part = next.part RETURNING name, asked::float8, leases.part`;
const END = `UPDATE incrawl.leases SET failures = CASE WHEN $5::text IS NULL THEN 0 ELSE failures END, fault = $5,
    resting = $4, wanted = CASE
    WHEN asked > $2 THEN clock_timestamp()
    WHEN $3::float8 IS NULL THEN NULL
    ELSE clock_timestamp() + $3 * interval '1 millisecond' END
  WHERE part = $1 RETURNING wanted <= clock_timestamp()`;
const FAIL = `UPDATE incrawl.leases SET failures = failures + 1, fault = $2, resting = NULL, wanted = clock_timestamp()
    + (ARRAY[${TURN_PAUSES_MS}])[least(failures + 1, ${TURN_PAUSES_MS.length})] * interval '1 millisecond'
  WHERE part = $1`;
/** The turn of a held partition is not taken before the lease ends. */
const STATE = `SELECT
    count(*) FILTER (WHERE wanted <= clock_timestamp() OR wanted IS NOT NULL AND NOT (${HAS_FAILED} AND (${FREE})))::int,
    (extract(epoch FROM min(greatest(wanted, CASE WHEN holder IS NOT NULL THEN until END))
      FILTER (WHERE wanted IS NOT NULL) - clock_timestamp()) * 1000)::float8,
    count(*) FILTER (WHERE ${HAS_FAILED})::int,
    (SELECT count(*)::int FROM incrawl.workers WHERE crawl = $2 AND until >= clock_timestamp())
  FROM incrawl.leases WHERE ${OF_CRAWL} AND ${IS_HERE}`;
const APPEAR = `INSERT INTO incrawl.workers (crawl, worker, until, report)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond', $4)
  ON CONFLICT (crawl, worker) DO UPDATE SET until = excluded.until, heard = excluded.heard, report = excluded.report
  RETURNING xmax = 0`;
/** Removes rows of workers that died. */
const BURY = `DELETE FROM incrawl.workers WHERE crawl = $1 AND until < clock_timestamp() - interval '1 hour'`;
/** Also for a worker that ended before its first sign of life. */
const FAULT = `INSERT INTO incrawl.workers (crawl, worker, until, report, fault)
  VALUES ($1, $2, clock_timestamp(), $3, $4)
  ON CONFLICT (crawl, worker) DO UPDATE SET until = excluded.until, heard = excluded.heard, fault = excluded.fault`;
const LEAVE = 'DELETE FROM incrawl.workers WHERE crawl = $1 AND worker = $2';
const FAILED = `SELECT name, fault FROM incrawl.leases JOIN incrawl.names USING (part)
  WHERE name = ANY($1) AND ${IS_HERE} AND ${HAS_FAILED} ORDER BY name`;
const FORGET = `UPDATE incrawl.leases SET failures = 0, fault = NULL, wanted = clock_timestamp()
  WHERE ${OF_CRAWL} AND ${HAS_FAILED}`;

export interface PostgresTurnsOptions {
  readonly db: Database;
  readonly url: string;
  /** Names of the crawl dbs of the partitions, by number. */
  readonly names: readonly string[];
  readonly leaseMs: number;
  /** Id of the worker. */
  readonly worker: string;
  readonly load?: LoadPackage | undefined;
}

/** {@link Turns} as columns of the lease rows, by the clock of the server. */
export class PostgresTurns implements Turns {
  readonly #db: Database;
  readonly #names: readonly string[];
  readonly #partitions: ReadonlyMap<string, number>;
  readonly #parts = new Map<number, number>();
  readonly #leaseMs: number;
  readonly #bell: Bell;
  readonly worker: string;
  #report: (() => WorkerReport) | null = null;
  /** The report of the last sign of life. */
  #reported: string | null = null;
  #isReady = false;
  /** Time of the last sign of life, by the monotonic clock, ms. */
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor({ db, url, names, leaseMs, worker, load }: PostgresTurnsOptions) {
    this.worker = worker;
    this.#db = db;
    this.#names = names;
    this.#partitions = new Map(names.map((name, partition) => [name, partition]));
    this.#leaseMs = leaseMs;
    this.#bell = new Bell({ url, crawl: names[0] as string, load });
  }

  tell(report: () => WorkerReport): void {
    this.#report = report;
  }

  async want(partitions: Iterable<number>): Promise<void> {
    await this.#ready();
    const parts: number[] = [];
    for (const partition of new Set(partitions)) {
      const part = await ensurePart(this.#db, this.#names[partition] as string);
      this.#parts.set(partition, part);
      parts.push(part);
    }
    if (parts.length === 0) return;
    const { rows } = await this.#db.query({ text: WANT, values: [parts] });
    await this.#ring();
    for (const [name, holder] of rows) refuseMoved(String(name), holder, false);
  }

  async take(limit: number): Promise<readonly TakenTurn[]> {
    await this.#ready();
    const { rows } = await this.#db.query({ text: TAKE, values: [this.#names, limit, this.#leaseMs] });
    return rows.map(([name, wanted, part]) => {
      const partition = this.#partitions.get(String(name)) as number;
      this.#parts.set(partition, Number(part));
      return { partition, wanted: Number(wanted) };
    });
  }

  async end({ partition, wanted }: TakenTurn, result: TurnResult): Promise<void> {
    const { laterMs = null, resting, fault = null } = result === 'done' ? {} : result;
    const values = [this.#parts.get(partition), wanted, laterMs, resting ? JSON.stringify(resting) : null, fault];
    const { rows } = await this.#db.query({ text: END, values });
    if (rows[0]?.[0] === true) await this.#ring();
  }

  async fail({ partition }: TakenTurn, reason: string): Promise<void> {
    await this.#db.query({ text: FAIL, values: [this.#parts.get(partition), reason] });
  }

  async state() {
    await this.#ready();
    await this.#appear();
    const { rows } = await this.#db.query({ text: STATE, values: [this.#names, this.#names[0]] });
    const [open, nextMs, failures, workers] = rows[0] ?? [];
    const failed = Number(failures) === 0 ? [] : await this.#failed();
    const next = nextMs === null ? null : Math.max(0, Number(nextMs));
    return { open: Number(open), nextMs: next, workers: Number(workers), failed };
  }

  async forgetFailed(): Promise<void> {
    await this.#ready();
    await this.#db.query({ text: FORGET, values: [this.#names] });
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return this.#bell.wait(ms, signal);
  }

  async close(fault?: string): Promise<void> {
    if (fault !== undefined || this.#seenAt !== Number.NEGATIVE_INFINITY) {
      const leave = [this.#names[0], this.worker];
      // If the server does not answer, it drops this worker after a lease.
      await this.#db
        .query(
          fault === undefined
            ? { text: LEAVE, values: leave }
            : { text: FAULT, values: [...leave, this.#reportText(), fault] },
        )
        .then(() => this.#ring())
        .catch(() => {});
    }
    await this.#bell.close();
  }

  /** Shows that this worker is alive, and announces a new one to the others. */
  async #appear(): Promise<void> {
    const now = performance.now();
    const quietMs = now - this.#seenAt;
    if (quietMs < Math.min(TELL_MS, this.#leaseMs / 3)) return;
    const report = this.#reportText();
    if (quietMs < this.#leaseMs / 3 && report === this.#reported) return;
    const values = [this.#names[0], this.worker, this.#leaseMs, report];
    const { rows } = await this.#db.query({ text: APPEAR, values });
    this.#seenAt = now;
    this.#reported = report;
    if (rows[0]?.[0] !== true) return;
    await this.#db.query({ text: BURY, values: [this.#names[0]] });
    await this.#ring();
  }

  #reportText(): string | null {
    return this.#report === null ? null : JSON.stringify(this.#report());
  }

  async #failed() {
    const { rows } = await this.#db.query({ text: FAILED, values: [this.#names] });
    return rows.map(([name, fault]) => ({
      partition: this.#partitions.get(String(name)) as number,
      reason: String(fault),
    }));
  }

  async #ring(): Promise<void> {
    await this.#db.query({ text: `SELECT pg_notify('${CHANNEL}', $1)`, values: [this.#names[0]] });
  }

  async #ready(): Promise<void> {
    if (this.#isReady) return;
    await upgradeSchema(this.#db);
    this.#isReady = true;
  }
}

/** Least time between two signs of life of a worker with news, ms. */
const TELL_MS = 2_000;

const CHANNEL = 'incrawl_turns';
const CONNECT_TIMEOUT_MS = 5_000;

/** Listens for wanted turns. Without its connection, as behind a pooler, workers look when their pause is over. */
class Bell {
  readonly #pool: PgPool;
  /** Crawls in one database share the channel. */
  readonly #crawl: string;
  readonly #waiting = new Set<() => void>();
  #listening: Promise<void> | null = null;
  #isClosed = false;
  #leave = (): void => {};

  constructor({
    url,
    crawl,
    load,
  }: { readonly url: string; readonly crawl: string; readonly load?: LoadPackage | undefined }) {
    this.#crawl = crawl;
    this.#pool = openPool(
      {
        connectionString: url,
        max: 1,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        idleTimeoutMillis: 0,
        keepAlive: true,
        application_name: 'incrawl turns',
        allowExitOnIdle: true,
      },
      load,
    );
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#listening ??= this.#listen().catch(() => this.#deaf());
    const rung = new AbortController();
    const ring = (): void => rung.abort();
    this.#waiting.add(ring);
    await delay(ms, undefined, { signal: AbortSignal.any([signal, rung.signal]) }).catch(() => {});
    this.#waiting.delete(ring);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#listening;
    this.#leave();
    await this.#pool.end();
  }

  async #listen(): Promise<void> {
    const client = await this.#pool.connect();
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      client.release(true);
      this.#deaf();
    };
    client.on('error', leave);
    client.on('end', leave);
    client.on('notification', ({ payload }) => {
      if (payload === this.#crawl) for (const ring of this.#waiting) ring();
    });
    try {
      await client.query({ text: `LISTEN ${CHANNEL}` });
    } catch (error) {
      leave();
      throw error;
    }
    this.#leave = leave;
  }

  /** Ends the connection; the next wait connects again. */
  #deaf(): void {
    if (!this.#isClosed) this.#listening = null;
  }
}
