/**
 * `npm run bench -- --only shared [--pages N]`: what a crawl in partitions writes to PostgreSQL and asks of an object
 * store, beside `incrawl crawl` on the same site: rounds, segments, requests by kind, rows, WAL and disk a page, CPU.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/adapters/postgres/database.ts';
import { NO_POSTGRES, startPostgres } from '../../test/system/adapters/postgres/postgres-server.ts';
import { type SeenRequest, startFaultyS3 } from '../../test/system/adapters/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, startS3 } from '../../test/system/adapters/s3/s3-server.ts';
import { cpuOf } from './server-cpu.ts';
import { measured, type Run, startSite } from './workers.ts';

/** As docs/cluster.md has them. */
const SETTINGS = ['wal_compression=on', 'max_wal_size=4GB', 'checkpoint_timeout=15min', 'shared_buffers=256MB'];

export async function benchShared(
  say: (text: string) => void,
  { pages, workers }: { readonly pages: number; readonly workers: readonly number[] },
): Promise<void> {
  const missing = NO_S3 ?? NO_POSTGRES;
  if (missing !== null) return say(`a crawl in PostgreSQL and an object store: skipped, ${missing}`);
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-shared-'));
  const site = await startSite(pages);
  const postgres = await startPostgres(['fsync=off', ...SETTINGS].flatMap((setting) => ['-c', setting]));
  const s3 = await startS3();
  const proxy = await startFaultyS3(s3.endpoint);
  const db = new Database(postgres.url);
  try {
    const seeds = join(dir, 'seeds.txt');
    writeFileSync(seeds, site.origins.map((origin) => `${origin}/0\n`).join(''));
    const alone: Run = { what: 'crawl', workers: 0, args: [] };
    const reference = await measured(alone, { dir: join(dir, 'crawl'), name: 'crawl', seeds });
    const segments = readdirSync(join(dir, 'crawl', 'segments')).length;
    say(`crawl: ${reference.fetched} pages, ${msOf(reference)} ms CPU each; ${segments} segments`);
    for (const count of workers) {
      const name = `shared-${count}`;
      const args = [`cluster.store=${postgres.url}`, `segments.store=s3://${BUCKET}/${name}`].flatMap((set) => [
        '-D',
        set,
      ]);
      proxy.seen.length = 0;
      const before = await written(db);
      const serverCpu = cpuOf(postgres.pid);
      const env = { ...S3_ENV, AWS_ENDPOINT_URL_S3: proxy.endpoint };
      const run = await measured({ what: name, workers: count, args }, { dir: join(dir, name), name, seeds, env });
      const server = (cpuOf(postgres.pid) - serverCpu) / 1_000 / run.fetched;
      // The statistics of a backend are kept back for a second.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const after = await written(db);
      const a = (key: keyof Written): string => ((after[key] - before[key]) / run.fetched).toFixed(2);
      const ratio = (run.cpuMs / run.fetched / (reference.cpuMs / reference.fetched)).toFixed(2);
      const own = proxy.seen.filter(({ method, path }) => method === 'PUT' && path.includes('/manifests/'));
      const made = new Set(own.map(({ path }) => path)).size;
      say(
        `${count} of work: ${run.fetched} pages, ${msOf(run)} ms CPU each, ${ratio} x, server ${server.toFixed(2)} ms`,
      );
      say(
        `  ${run.rounds} rounds, ${made} segments (${(made / segments).toFixed(1)} x), ${requestsOf(proxy.seen, run.fetched)}`,
      );
      say(
        `  a page: ${a('inserts')} inserts, ${a('updates')} updates (${a('hot')} HOT), ${a('deletes')} deletes, ` +
          `${a('wal')} B WAL, ${a('disk')} B of disk`,
      );
    }
  } finally {
    await db.close();
    await proxy.stop();
    await s3.stop();
    await postgres.stop();
    site.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const msOf = ({ cpuMs, fetched }: { readonly cpuMs: number; readonly fetched: number }): string =>
  (cpuMs / fetched).toFixed(2);

interface Written {
  readonly inserts: number;
  readonly updates: number;
  readonly hot: number;
  readonly deletes: number;
  readonly wal: number;
  readonly disk: number;
}

/** What the tables of rows have taken so far. */
async function written(db: Database): Promise<Written> {
  const { rows } = await db.query({
    text: `SELECT coalesce(sum(n_tup_ins), 0)::float8, coalesce(sum(n_tup_upd), 0)::float8,
        coalesce(sum(n_tup_hot_upd), 0)::float8, coalesce(sum(n_tup_del), 0)::float8,
        (pg_current_wal_lsn() - '0/0')::float8, coalesce(sum(pg_total_relation_size(relid)), 0)::float8
      FROM pg_stat_user_tables WHERE schemaname = 'incrawl' AND relname LIKE 'rows_%'`,
  });
  const [inserts = 0, updates = 0, hot = 0, deletes = 0, wal = 0, disk = 0] = (rows[0] ?? []).map(Number);
  return { inserts, updates, hot, deletes, wal, disk };
}

/** Requests a page, and by method and kind of object. */
function requestsOf(seen: readonly SeenRequest[], pages: number): string {
  const counts = new Map<string, number>();
  for (const { method, path } of seen) {
    const kind = /[?&]list-type/.test(path)
      ? 'list'
      : (/(manifests|crawl\.json|\.warc\.gz|hosts|records)/.exec(path)?.[1] ?? 'other');
    const what = `${method} ${kind}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const kinds = [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
  return `${(seen.length / pages).toFixed(2)} requests a page: ${kinds.join(', ')}`;
}
