import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../src/cluster/postgres/database.ts';
import { NO_POSTGRES, startPostgres } from '../../test/system/cluster/postgres/postgres-server.ts';
import { type SeenRequest, startFaultyS3 } from '../../test/system/cluster/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, startS3 } from '../../test/system/cluster/s3/s3-server.ts';
import { measurement, UsageError } from '../harness/measurement.ts';
import { cpuOf } from './server-cpu.ts';
import { defined, measured, type Run, type WorkersCost, withSeeds } from './workers.ts';

/** As docs/cluster.md has them. */
const SETTINGS = ['wal_compression=on', 'max_wal_size=4GB', 'checkpoint_timeout=15min', 'shared_buffers=256MB'];

/**
 * What a crawl in partitions writes to PostgreSQL and asks of an object store, beside `incrawl crawl` on the same site:
 * rounds, segments, requests by kind, rows, WAL and disk a page, CPU. `--sizes` has how many workers.
 */
export const shared = measurement(
  'cluster',
  { pages: 4_992, sizes: [1, 3] },
  async ({ say, question }, { pages, sizes }) => {
    const missing = NO_S3 ?? NO_POSTGRES;
    if (missing !== null)
      throw new UsageError(`a crawl in PostgreSQL and an object store cannot be measured: ${missing}`);
    const postgres = await startPostgres(['fsync=off', ...SETTINGS].flatMap((setting) => ['-c', setting]));
    const s3 = await startS3();
    const proxy = await startFaultyS3(s3.endpoint);
    const db = new Database(postgres.url);
    const note = question(
      `A shared crawl in PostgreSQL and an object store, ${pages.toLocaleString('en')} pages of 24 hosts, 16 partitions`,
    );
    const msOf = ({ cpuMs, fetched }: WorkersCost): number => cpuMs / fetched;
    try {
      await withSeeds(pages, async (dir, seeds) => {
        const alone: Run = { what: 'crawl', workers: 0, args: [] };
        const reference = await measured(alone, { dir: join(dir, 'crawl'), name: 'crawl', seeds });
        const segments = readdirSync(join(dir, 'crawl', 'segments')).length;
        note('CPU a page, crawl', msOf(reference), 'ms');
        for (const count of sizes) {
          const name = `shared-${count}`;
          const by = count === 1 ? 'one worker' : `${count} workers`;
          const args = defined({ 'cluster.store': postgres.url, 'segments.store': `s3://${BUCKET}/${name}` });
          proxy.seen.length = 0;
          const [before, serverUs] = [await written(db), cpuOf(postgres.pid)];
          const env = { ...S3_ENV, AWS_ENDPOINT_URL_S3: proxy.endpoint };
          const run = await measured({ what: name, workers: count, args }, { dir: join(dir, name), name, seeds, env });
          const server = (cpuOf(postgres.pid) - serverUs) / 1_000 / run.fetched;
          // The statistics of a backend are kept back for a second.
          await new Promise((resolve) => setTimeout(resolve, 2_000));
          const after = await written(db);
          const manifests = proxy.seen.filter(({ method, path }) => method === 'PUT' && path.includes('/manifests/'));
          const made = new Set(manifests.map(({ path }) => path)).size;
          note(`CPU a page, ${by}, against crawl`, msOf(run) / msOf(reference), 'x', count === 1 ? '<= 1.4' : '<= 1.5');
          note(`CPU a page of the server, ${by}`, server, 'ms');
          note(`rounds, ${by}`, run.rounds);
          note(`segments against crawl, ${by}`, made / segments, 'x', '<= 2');
          note(`requests to the object store a page, ${by}`, proxy.seen.length / run.fetched, 'requests', '<= 0.2');
          for (const [metric, unit, aim] of WRITTEN) {
            const each = ((after.get(metric) ?? 0) - (before.get(metric) ?? 0)) / run.fetched;
            note(`${metric} a page, ${by}`, unit === 'KB' ? each / 1_000 : each, unit, aim);
          }
          say(`requests of ${by} by kind: ${kindsOf(proxy.seen)}`);
        }
      });
    } finally {
      await db.close();
      await proxy.stop();
      await s3.stop();
      await postgres.stop();
    }
  },
);

/** What is read of the tables of rows, by the columns of the query below. */
const WRITTEN = [
  ['inserts', 'rows', '<= 8'],
  ['updates', 'rows', '<= 2'],
  ['HOT updates', 'rows', undefined],
  ['deletes', 'rows', '<= 2'],
  ['WAL', 'KB', '<= 3'],
  ['disk', 'KB', undefined],
] as const;

/** What the tables of rows have taken so far. */
async function written(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query({
    text: `SELECT coalesce(sum(n_tup_ins), 0)::float8, coalesce(sum(n_tup_upd), 0)::float8,
        coalesce(sum(n_tup_hot_upd), 0)::float8, coalesce(sum(n_tup_del), 0)::float8,
        (pg_current_wal_lsn() - '0/0')::float8, coalesce(sum(pg_total_relation_size(relid)), 0)::float8
      FROM pg_stat_user_tables WHERE schemaname = 'incrawl' AND relname LIKE 'rows_%'`,
  });
  return new Map(WRITTEN.map(([metric], i) => [metric, Number(rows[0]?.[i] ?? 0)]));
}

/** Requests by method and kind of object, the most frequent first. */
function kindsOf(seen: readonly SeenRequest[]): string {
  const counts = new Map<string, number>();
  for (const { method, path } of seen) {
    const kind = /[?&]list-type/.test(path)
      ? 'list'
      : (/(manifests|crawl\.json|\.warc\.gz|hosts|records)/.exec(path)?.[1] ?? 'other');
    const what = `${method} ${kind}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');
}
