import { type FaultyS3, startFaultyS3 } from '../../test/system/cluster/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, startS3 } from '../../test/system/cluster/s3/s3-server.ts';
import { CRAWLING, type MeasuredCrawl, measuredCrawl, withState } from '../crawl/measured-crawl.ts';
import { siteOf } from '../crawl/site-process.ts';
import { inTurn, sum } from '../harness/cost.ts';
import { measurement, type Note, UsageError } from '../harness/measurement.ts';

const ROUNDS = 3;

/** A crawl with its segments in an S3 server beside one with a folder, in turn. */
export const objects = measurement('cluster', CRAWLING, async ({ question }, options) => {
  if (NO_S3 !== null) throw new UsageError(`segments in an object store cannot be measured: ${NO_S3}`);
  const site = siteOf(options);
  const note = question(
    `Segments in an object store (versitygw beside the crawl), ${site.pages.toLocaleString('en')} pages of 36 KB`,
  );
  const server = await startS3();
  const proxy = await startFaultyS3(server.endpoint);
  let runs: Map<'folder' | 'objects', MeasuredCrawl[]>;
  try {
    runs = await inTurn(['folder', 'objects'] as const, ROUNDS, async (kind, round) => {
      const define = kind === 'folder' ? [] : [`segments.store=s3://${BUCKET}/round-${round}`];
      const env = { ...S3_ENV, AWS_ENDPOINT_URL_S3: proxy.endpoint };
      const run = await withState(site, ({ seeds }, dir) => measuredCrawl({ dir, seeds, define }, env));
      if (kind === 'objects' && round === 0) takeRequests(note, proxy, site.pages);
      return run;
    });
  } finally {
    await proxy.stop();
    await server.stop();
  }
  const least = (kind: 'folder' | 'objects', of: 'cpuMs' | 'ms' | 'peakMb'): number =>
    Math.min(...(runs.get(kind) ?? []).map((run) => run[of]));
  for (const kind of ['folder', 'objects'] as const) {
    note(`CPU a page, ${kind}`, least(kind, 'cpuMs') / site.pages, 'ms');
    note(`peak memory, ${kind}`, least(kind, 'peakMb'), 'MB');
  }
  note('CPU a page, objects against folder', least('objects', 'cpuMs') / least('folder', 'cpuMs'), 'x');
  note('time, objects against folder', least('objects', 'ms') / least('folder', 'ms'), 'x');
});

function takeRequests(note: Note, { seen }: FaultyS3, pages: number): void {
  for (const method of ['PUT', 'GET', 'DELETE']) {
    const count = seen.filter((each) => each.method === method).length;
    note(`${method} requests for 1,000 pages`, (count * 1_000) / pages, 'requests');
  }
  note('stored a page', sum(seen.map(({ bytesUp }) => bytesUp)) / pages / 1_000, 'KB');
}
