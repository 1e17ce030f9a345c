import type { CrawlWorkers, PartitionRow, WorkerRow } from '../ports/workers.ts';
import type { Database } from './database.ts';
import { IS_HERE } from './moves.ts';
import { hasTables } from './schema.ts';

/** Ms since the epoch; `null` for times that a row lacks. */
const ms = (time: string): string => `floor(extract(epoch FROM ${time}) * 1000)::float8`;

/** A server that takes no writes cannot note that in its rows. */
const FAULT = `coalesce(CASE WHEN current_setting('transaction_read_only') = 'on'
    THEN 'db-readonly: PostgreSQL takes no writes' END, fault)`;

/** If partitions have names of their own, the lease in the row of the whole crawl is not used. */
const PARTITIONS = `SELECT name, CASE WHEN until >= clock_timestamp() THEN holder END,
    CASE WHEN holder IS NOT NULL AND until >= clock_timestamp() THEN ${ms('until')} END,
    ${ms('wanted')}, failures, ${FAULT}, resting, ${ms('clock_timestamp()')}
  FROM incrawl.leases JOIN incrawl.names USING (part)
  WHERE ${IS_HERE} AND (name = $1
    OR left(name, length($1) + 1) = $1 || ':' AND substr(name, length($1) + 2) ~ '^[0-9]{3}$')
  ORDER BY name`;
const WORKERS = `SELECT worker::text, ${ms('since')}, ${ms('heard')}, until >= clock_timestamp(), report, fault
  FROM incrawl.workers
  WHERE crawl IN ($1, $1 || ':000') AND until >= clock_timestamp() - interval '1 hour' ORDER BY since, worker`;

/** Reads who works on a crawl, and creates no tables. Two statements. */
export async function readWorkers(db: Database, name: string): Promise<CrawlWorkers | null> {
  if (!(await hasTables(db))) return null;
  const { rows } = await db.query({ text: PARTITIONS, values: [name] });
  const all = rows.map(partitionOf);
  const spread = all.filter((each) => each.name !== name);
  const partitions = spread.length > 0 ? spread : all;
  if (partitions.length === 0) return null;
  const shown = await db.query({ text: WORKERS, values: [name] });
  return { at: Number(rows[0]?.[7]), workers: shown.rows.map(workerOf), partitions };
}

function partitionOf([name, holder, until, wanted, failures, fault, resting]: readonly unknown[]): PartitionRow {
  return {
    name: String(name),
    holder: textOf(holder),
    until: until === null ? null : Number(until),
    wantedAt: wanted === null ? null : Number(wanted),
    failures: Number(failures),
    fault: textOf(fault),
    resting: jsonOf(resting),
  };
}

function workerOf([id, since, heardAt, isAlive, report, fault]: readonly unknown[]): WorkerRow {
  return {
    id: String(id),
    since: Number(since),
    heardAt: Number(heardAt),
    isAlive: isAlive === true,
    report: jsonOf(report),
    fault: textOf(fault),
  };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

function jsonOf<Value>(value: unknown): Value | null {
  return value === null || value === undefined ? null : (JSON.parse(String(value)) as Value);
}
