import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { parseCursor } from '../../../../src/core/domain/crawl/change/change-feed.ts';
import type { PruneSummary } from '../../../../src/crawler/views.ts';
import { all } from '../../../contracts/segment-records.ts';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Fault, type FaultyS3, startFaultyS3 } from '../../cluster/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, type S3Server, startS3, storeAt } from '../../cluster/s3/s3-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { shortestPause, startHosts, type WatchedHosts } from './watched-hosts.ts';
import { writerAmong } from './writer-among.ts';

const MISSING = NO_POSTGRES ?? NO_S3;
const SKIPPED = MISSING === null ? '' : ` (skipped: ${MISSING})`;
const DELAY_MS = 40;
const PARTITIONS = 4;
const HOSTS = 8;
const URLS = HOSTS * 14;
const LEASE_MS = 2_000;
const NAME = 'objects';
const WORKERS = 3;

/** A line without what differs from one crawl to the other. */
function withoutTimes(line: string): string {
  if (!line.startsWith('{')) return line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');
  const { fetchedAt, changedAt, lastFetchAt, at, notedAt, seq, partition, ...rest } = JSON.parse(line);
  return JSON.stringify(rest);
}

interface Manifest {
  /** Ids are unique within a partition alone. */
  readonly key: string;
  readonly token: number;
  readonly writer: unknown;
  readonly info: { readonly id: string; readonly state: string };
}

describe.skipIf(MISSING !== null)(`a crawl in partitions with its segments in an object store${SKIPPED}`, () => {
  let postgres: PostgresServer;
  let s3: S3Server;
  let hosts: WatchedHosts;
  /** Each worker asks the object store by a way of its own. */
  const ways: FaultyS3[] = [];
  beforeAll(async () => {
    postgres = await startPostgres([]);
    s3 = await startS3();
    for (let i = 0; i < WORKERS; i++) ways.push(await startFaultyS3(s3.endpoint));
    hosts = await startHosts(HOSTS, 20);
    // The object store reads its credentials from the environment of the process, which commands run in here.
    Object.assign(process.env, envOf(0));
  });
  afterAll(async () => {
    await hosts?.close();
    for (const way of ways) await way.stop();
    await s3?.stop();
    await postgres?.stop();
  });

  const network = [
    '--allow',
    '127.0.0.1',
    '--delay',
    `${DELAY_MS}ms`,
    '-D',
    'fetch.maxCrawlDelay=1s',
    '--quiet',
    '-D',
    'sitemaps.mode=off',
  ];
  const ofCrawl = (prefix: string): string[] => [
    ...['-D', `cluster.store=${postgres.url}`, '-D', `cluster.name=${NAME}-${prefix}`],
    ...['-D', `cluster.lease=${LEASE_MS}ms`, '-D', `cluster.partitions=${PARTITIONS}`],
    // Small parts, so that many are under way.
    ...['-D', `segments.store=s3://${BUCKET}/${prefix}`, '-D', 'segments.sealEvery=1s', '-D', 's3.timeout=2s'],
  ];
  const envOf = (worker: number) => ({ ...S3_ENV, AWS_ENDPOINT_URL_S3: (ways[worker] as FaultyS3).endpoint });
  const work = (worker: number, dir: string, prefix: string, ...args: readonly string[]): Running =>
    start(['work', ...args, '--json', '--dir', dir, ...ofCrawl(prefix), ...network], { env: envOf(worker) });

  async function pagesOf(where: readonly string[]): Promise<readonly unknown[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where], { env: envOf(0) });
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const { url, state, depth, httpStatus, title, failures, digest, signature, target } = JSON.parse(line);
        return { url, state, depth, httpStatus, title, failures, digest, signature, target };
      });
  }

  /** Rejects where a worker ends too early. */
  function running<Value>(workers: readonly Running[], value: Promise<Value>): Promise<Value> {
    const ends = workers.map(({ finished }) =>
      finished.then(({ code, stderr }) => Promise.reject(new Error(`a worker ended with ${code}: ${stderr}`))),
    );
    return Promise.race([value, ...ends]);
  }

  /** What one process on one crawl db ends with. */
  async function whole(): Promise<readonly unknown[]> {
    const own = join(workDir(), 'own');
    await prepare(['crawl', seeds(), '--dir', own, ...network]);
    const pages = await pagesOf(['--dir', own]);
    expect(pages).toHaveLength(URLS);
    return pages;
  }

  function seeds(): string {
    const file = join(workDir(), 'seeds.txt');
    writeFileSync(file, hosts.origins.map((origin) => `${origin}/\n`).join(''));
    return file;
  }

  async function manifests(prefix: string): Promise<readonly Manifest[]> {
    const store = storeAt(s3.endpoint, `${prefix}/`);
    const keys = (await all(store.list(''))).map(({ key }) => key).filter((key) => /manifests\/.*json$/.test(key));
    const read = keys.map(async (key) => ({ ...JSON.parse((await store.get(key))?.bytes.toString() ?? ''), key }));
    try {
      return await Promise.all(read);
    } finally {
      await store.close();
    }
  }

  it('a worker paused beyond its lease stores nothing more, and no folder is shared', {
    timeout: 240_000,
  }, async () => {
    const expected = await whole();
    const before = hosts.asked.length;
    const dirs = Array.from({ length: WORKERS }, (_, i) => join(workDir(), `machine-${i}`));
    const workers = [work(0, dirs[0] as string, 'paused', seeds())];
    await running(workers, hosts.seen(before + 1));
    workers.push(work(1, dirs[1] as string, 'paused'), work(2, dirs[2] as string, 'paused'));
    await running(workers, hosts.seen(before + 20));
    const names = Array.from({ length: PARTITIONS }, (_, i) => `${NAME}-paused:${String(i).padStart(3, '0')}`);
    const paused = await running(workers, writerAmong(postgres.url, names, workers));
    const way = ways[workers.indexOf(paused)] as FaultyS3;
    // It must have a segment open, which others are to take over.
    const isWriting = async (): Promise<boolean> =>
      (await manifests('paused')).some(({ writer }) => (writer as { pid?: number } | null)?.pid === paused.child.pid);
    while (!(await running(workers, isWriting()))) await delay(20);
    paused.child.kill('SIGSTOP');
    const pid = paused.child.pid;
    const held = (await manifests('paused')).filter(({ writer }) => (writer as { pid?: number } | null)?.pid === pid);
    const taken = async (): Promise<boolean> => {
      const now = new Map((await manifests('paused')).map((each) => [each.key, each]));
      return held.length > 0 && held.every(({ key, token }) => (now.get(key)?.token ?? 0) > token);
    };
    while (!(await running(workers, taken()))) await delay(100);
    const asked = way.seen.length;
    paused.child.kill('SIGCONT');
    const ends = await Promise.all(workers.map(({ finished }) => finished));
    for (const { code, stdout, stderr } of ends) {
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    const puts = way.seen.slice(asked).filter(({ method, path }) => method === 'PUT' && path.includes('/manifests/'));
    for (const { key } of held) {
      const own = puts.filter(({ path }) => path.includes(key));
      expect(own.map(({ status }) => status)).not.toContain(200);
    }

    const where = ['--dir', dirs[0] as string, ...ofCrawl('paused')];
    expect(await pagesOf(where)).toEqual(expected);
    expect(hosts.overlaps).toEqual([]);
    expect(shortestPause(hosts.asked.slice(before))).toBeGreaterThanOrEqual(DELAY_MS - 1);
    const all = await manifests('paused');
    expect(all.filter(({ info, writer }) => info.state !== 'updated' || writer !== null)).toEqual([]);
    expect(Math.min(...all.map(({ token }) => token))).toBeGreaterThan(0);
    // No machine keeps the pages of finished segments, and none has them in a folder.
    for (const dir of dirs) {
      for (const partition of existsSync(join(dir, 'partitions')) ? readdirSync(join(dir, 'partitions')) : []) {
        expect(readdirSync(join(dir, 'partitions', partition))).not.toContain('segments');
      }
    }
    // A partition is a crawl of its own for commands that work on one.
    const [partition] = readdirSync(join(dirs[0] as string, 'partitions'));
    const one = ['--dir', join(dirs[0] as string, 'partitions', partition as string)];
    const name = ['-D', `cluster.name=${NAME}-paused:${partition}`, '-D', 'cluster.partitions=1'];
    const listed = await run(['readseg', '--list', '--json', ...one, ...ofCrawl('paused'), ...name], { env: envOf(0) });
    expect([listed.code, listed.stderr]).toEqual([0, '']);
  });

  it('ends the same though the object store answers 503, loses answers and is silent', {
    timeout: 240_000,
  }, async () => {
    const expected = await whole();
    const faults: readonly Fault[] = ['503', 'lost', 'torn', 'reset', '503', 'silent', '429', 'slow'];
    let requests = 0;
    for (const way of ways) {
      way.fault = () => (++requests % 9 === 0 ? (faults[(requests / 9) % faults.length] as Fault) : null);
    }
    const dirs = Array.from({ length: WORKERS }, (_, i) => join(workDir(), `machine-${i}`));
    const before = hosts.asked.length;
    const workers = [work(0, dirs[0] as string, 'faults', seeds())];
    await running(workers, hosts.seen(before + 1));
    workers.push(work(1, dirs[1] as string, 'faults'), work(2, dirs[2] as string, 'faults'));
    for (const { finished } of workers) expect(await finished).toMatchObject({ code: 0, stderr: '' });
    for (const way of ways) way.fault = () => null;
    expect(requests).toBeGreaterThan(50);
    expect(await pagesOf(['--dir', dirs[1] as string, ...ofCrawl('faults')])).toEqual(expected);
    expect(hosts.overlaps).toEqual([]);
    // No page is asked for again because an answer of the object store was lost.
    expect(hosts.asked.length - before).toBe(URLS);
    expect((await manifests('faults')).map(({ info }) => info.state)).not.toContain('generated');
  });

  it('answers about all partitions: pages, links, exports, changes and the live view', {
    timeout: 240_000,
  }, async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', seeds(), ...own, ...network]);
    const dir = join(workDir(), 'machine-9');
    const spread = ['--dir', dir, ...ofCrawl('asked')];
    const ended = await work(0, dir, 'asked', seeds()).finished;
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const asked = async (command: readonly string[], where: readonly string[]): Promise<readonly unknown[]> => {
      const { stdout } = await prepare([...command, ...where], { env: envOf(0) });
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map(withoutTimes).sort();
    };
    const [host = ''] = hosts.origins;
    for (const command of [
      ['export', '--format', 'jsonl'],
      ['export', '--format', 'csv'],
      ['export', '--format', 'jsonl', '--since', '1h', '--merge-by', 'depth'],
      ['readdb', '--inlinks', `${host}/deep/page/1`, '--format', 'jsonl'],
      ['readdb', '--broken', '--format', 'jsonl'],
    ]) {
      const expected = await asked(command, own);
      expect(expected.length, command.join(' ')).toBeGreaterThan(0);
      expect(await asked(command, spread), command.join(' ')).toEqual(expected);
    }
    const near = ['duplicates', 'near', `${host}/page/1`, '--distance', '20', '--json'];
    expect(JSON.parse((await prepare([...near, ...spread], { env: envOf(0) })).stdout)).toEqual(
      JSON.parse((await prepare([...near, ...own])).stdout),
    );
    const seen = await prepare(['readdb', '--seen', '--json', ...spread], { env: envOf(0) });
    expect(JSON.parse(seen.stdout).asked.probes).toBeGreaterThan(HOSTS);
    const stored = await prepare(['readseg', '--get', `${host}/page/1`, '--json', ...spread], { env: envOf(0) });
    expect(JSON.parse(stored.stdout)).toMatchObject({ response: { status: 200 } });

    // Each change once, although runs lie between them; then what a new seed brings, and no more.
    const file = join(dir, 'cursor.txt');
    const newChanges = async (): Promise<readonly { readonly url: string }[]> => {
      const { stdout } = await prepare(['changes', '--cursor', file, '--format', 'jsonl', ...spread], {
        env: envOf(0),
      });
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    };
    const first = await newChanges();
    expect(first.map(({ url }) => url).sort()).toEqual(
      (await asked(['changes', '--since', '1h', '--format', 'jsonl'], own))
        .map((line) => (JSON.parse(String(line)) as { url: string }).url)
        .sort(),
    );
    expect(await newChanges()).toEqual([]);
    const added = `${hosts.origins[3]}/deep/added`;
    const injected = await prepare(['inject', added, '--json', ...spread], { env: envOf(0) });
    expect(JSON.parse(injected.stdout)).toMatchObject({ urls: 1, filtered: 0, partitions: expect.any(Number) });
    expect((await work(1, dir, 'asked').finished).code).toBe(0);
    expect((await newChanges()).map(({ url }) => url)).toEqual([added]);
    expect(await newChanges()).toEqual([]);
    const incremental = await prepare(['export', '--since', '1h', '--dry-run', '--json', ...spread], { env: envOf(0) });
    expect(parseCursor(JSON.parse(incremental.stdout).seq)).toHaveLength(PARTITIONS);

    const serving = start(['serve', '--port', '0', '--json', ...spread], { env: envOf(0) });
    const url = await new Promise<string>((resolve, reject) => {
      serving.child.stdout?.once('data', (text: string) => resolve(JSON.parse(text).url));
      void serving.finished.then(({ stderr }) => reject(new Error(stderr)));
    });
    const get = async (path: string): Promise<string> => {
      const answer = await fetch(new URL(path, url));
      const text = await answer.text();
      expect(answer.status, `${path} ${text.slice(0, 2_000)}`).toBe(200);
      return text;
    };
    const figures = [...(await get('/metrics')).matchAll(/^incrawl_urls\{[^}]*\} (\d+)$/gm)];
    expect(figures.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(URLS + 1);
    expect((await get('/changes.atom')).match(/<entry>/g)).toHaveLength(50);
    for (const page of ['/', '/rounds', '/hosts', '/due', '/changes', '/duplicates']) await get(page);
    const of = encodeURIComponent(`${host}/page/1`);
    for (const page of ['/url', '/near', '/blocks', '/diff']) await get(`${page}?u=${of}`);
    serving.child.kill('SIGTERM');
    await serving.finished;
  });

  it('moves from one process into partitions and back, and is not lost when that is cut short', async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', seeds(), ...own, ...network]);
    const dumped = async (where: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await prepare(['db', 'export', ...where], { env: envOf(0) });
      return stdout.split('\n').filter((line) => line !== '' && !/^\{"(incrawl|segment|lease|meta)"/.test(line));
    };
    const dump = (await prepare(['db', 'export', ...own])).stdout;
    const file = join(workDir(), 'crawl.jsonl');
    writeFileSync(file, dump);
    const dir = join(workDir(), 'moved');
    const spread = ['--dir', dir, ...ofCrawl('moved')];
    const cut = join(workDir(), 'cut.jsonl');
    writeFileSync(cut, dump.slice(0, dump.length / 2).replace(/[^\n]*$/, ''));
    const short = await run(['db', 'import', cut, ...spread], { env: envOf(0) });
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('the export is incomplete') });
    const early = await run(['work', ...spread, ...network], { env: envOf(0) });
    expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining('run "incrawl db import" again') });
    const moved = await run(['db', 'import', file, '--json', ...spread], { env: envOf(0) });
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('an import was cut short') });
    expect(JSON.parse(moved.stdout)).toMatchObject({ records: URLS });
    // Changes of one round have one time, and are numbered anew.
    const rows = async (where: readonly string[]): Promise<readonly string[]> =>
      (await dumped(where)).map((line) => line.replace(/"seq":\d+/, '')).sort();
    expect(await rows(spread)).toEqual(await rows(own));
    const again = await run(['db', 'import', file, ...spread], { env: envOf(0) });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('the crawl is not empty') });
    // The cluster goes on with it, and it can go back.
    expect(await work(0, dir, 'moved').finished).toMatchObject({ code: 0, stderr: '' });
    expect(await pagesOf(spread)).toEqual(await pagesOf(own));
    const back = ['--dir', join(workDir(), 'back')];
    await prepare(['db', 'import', ...back], {
      input: (await prepare(['db', 'export', ...spread], { env: envOf(0) })).stdout,
    });
    expect(await dumped(back)).toEqual(await dumped(spread));
  }, 240_000);

  it('parses the pages of all partitions anew, from a machine that never held one', { timeout: 240_000 }, async () => {
    await work(0, join(workDir(), 'held'), 'anew', seeds()).finished;
    const where = ['--dir', join(workDir(), 'never'), ...ofCrawl('anew'), '-D', 'parse.signature=digest'];
    await prepare(['work', ...where, ...network], { env: envOf(0) });
    const parsed = { selected: URLS - HOSTS, parsed: URLS - HOSTS, notStored: 0, failed: 0, differing: URLS - HOSTS };
    expect(await json(['reparse', '--dry-run', ...where])).toMatchObject(parsed);
    expect(await json(['reparse', ...where])).toMatchObject(parsed);
    expect(await json(['reparse', ...where])).toMatchObject({ ...parsed, differing: 0 });
    expect(await json(['duplicates', 'families', ...where])).not.toEqual([]);
    const prune = ['state', 'prune', '--keep-days', '0', '--compact', ...where];
    const { removed } = await json<PruneSummary>([...prune, '--dry-run']);
    expect(await json(prune)).toMatchObject({ removed, dryRun: false });
    expect(await json(prune)).toMatchObject({ removed: 0 });
    expect(await json(['reparse', ...where])).toMatchObject({ ...parsed, differing: 0 });
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });
  });

  it('refuses a worker whose segments would lie elsewhere', { timeout: 60_000 }, async () => {
    const dir = join(workDir(), 'other');
    const elsewhere = ['-D', `segments.store=s3://${BUCKET}/elsewhere`];
    const other = await run(['work', '--dir', dir, ...ofCrawl('faults'), ...network, ...elsewhere], { env: envOf(0) });
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('has its segments elsewhere than in') });
    const local = await run(['work', '--dir', dir, ...ofCrawl('faults'), ...network, '-D', 'segments.store='], {});
    expect(local).toMatchObject({ code: 2, stderr: expect.stringContaining('or segments.store the place') });
  });

  it('tokens of an older database are refused by manifests until they are raised as the documentation says', {
    timeout: 120_000,
  }, async () => {
    const dir = join(workDir(), 'older');
    const before = hosts.asked.length;
    const db = new Database(postgres.url);
    const killedWhileWriting = async (seen: number, ...args: readonly string[]): Promise<void> => {
      const worker = work(0, dir, 'older', ...args);
      await running([worker], hosts.seen(before + seen));
      const isWriting = async (): Promise<boolean> => (await manifests('older')).some(({ writer }) => writer !== null);
      while (!(await running([worker], isWriting()))) await delay(20);
      worker.child.kill('SIGKILL');
      await worker.finished;
    };
    await killedWhileWriting(15, seeds());
    await db.query({ text: 'UPDATE incrawl.names SET token = token + 50' });
    await killedWhileWriting(30);
    expect(Math.max(...(await manifests('older')).map(({ token }) => token))).toBeGreaterThan(50);
    await db.query({ text: 'UPDATE incrawl.names SET token = 0' });
    const other = join(workDir(), 'another');
    const loud = network.filter((option) => option !== '--quiet');
    const where = ['--dir', other, ...ofCrawl('older')];
    const waiting = start(['work', ...where, ...loud, '--json'], { env: envOf(1) });
    const warned = new Promise((resolve) =>
      waiting.child.stderr?.on('data', (line) => /again and again/.test(line) && resolve(line)),
    );
    await running([waiting], warned);
    const [text = ''] = /UPDATE incrawl[^`]*/.exec(readFileSync('docs/object-store.md', 'utf8')) ?? [];
    await db.query({ text });
    await db.close();
    expect(await waiting.finished).toMatchObject({ code: 0 });
    expect(await pagesOf(where)).toHaveLength(URLS);
  });
});
