/** `npm run bench -- --only objects`: a crawl with its segments in an S3 server beside one with a folder. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FaultyS3, startFaultyS3 } from '../../test/system/adapters/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, startS3 } from '../../test/system/adapters/s3/s3-server.ts';
import { crawlCommand, type MeasuredCrawl } from '../crawl/measured-crawl.ts';
import { type Site, startSite } from '../crawl/site-process.ts';

const ROUNDS = 3;

interface Run {
  readonly cpuMs: number;
  readonly ms: number;
  readonly peakRssMb: number;
}

export async function benchObjects(say: (text: string) => void, site: Site): Promise<void> {
  if (NO_S3 !== null) return say(`segments in an object store: skipped, ${NO_S3}`);
  const server = await startS3();
  const proxy = await startFaultyS3(server.endpoint);
  const runs: Record<'folder' | 'objects', Run[]> = { folder: [], objects: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of ['folder', 'objects'] as const) {
        const define = kind === 'folder' ? [] : [`segments.store=s3://${BUCKET}/round-${round}`];
        runs[kind].push(await crawlOf(site, define, proxy.endpoint));
        if (kind === 'objects' && round === 0) sayRequests(say, proxy, site.pages);
      }
    }
  } finally {
    await proxy.stop();
    await server.stop();
  }
  const least = (kind: 'folder' | 'objects', of: keyof Run): number => Math.min(...runs[kind].map((run) => run[of]));
  for (const [of, unit] of [
    ['cpuMs', 'ms CPU a page'],
    ['ms', 'ms a page'],
  ] as const) {
    const [folder, objects] = [least('folder', of), least('objects', of)].map((ms) => ms / site.pages) as [
      number,
      number,
    ];
    say(`${unit}, folder ${folder.toFixed(2)}, objects ${objects.toFixed(2)}: ${(objects / folder).toFixed(2)} x`);
  }
  say(
    `peak memory, MB: folder ${least('folder', 'peakRssMb').toFixed(0)}, objects ${least('objects', 'peakRssMb').toFixed(0)}`,
  );
}

function sayRequests(say: (text: string) => void, { seen }: FaultyS3, pages: number): void {
  const of = (method: string): number => seen.filter((each) => each.method === method).length;
  const bytes = seen.reduce((sum, { bytesUp }) => sum + bytesUp, 0);
  const counts = ['PUT', 'GET', 'DELETE'].map((method) => `${method} ${((of(method) * 1_000) / pages).toFixed(1)}`);
  say(`requests per 1,000 pages: ${counts.join(', ')}; stored ${(bytes / pages / 1_000).toFixed(1)} KB a page`);
}

async function crawlOf(site: Site, define: readonly string[], endpoint: string): Promise<Run> {
  const running = await startSite(site);
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  try {
    const [program = '', ...args] = crawlCommand({ dir, seeds: running.seeds, define });
    const env = { ...process.env, ...S3_ENV, AWS_ENDPOINT_URL_S3: endpoint };
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    return JSON.parse(text) as MeasuredCrawl;
  } finally {
    running.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
