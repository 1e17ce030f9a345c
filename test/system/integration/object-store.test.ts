import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all } from '../../contracts/segment-records.ts';
import { startTestSite, type TestSite } from '../../integration/site.ts';
import { type Fault, type FaultyS3, startFaultyS3 } from '../cluster/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, type S3Server, startS3, storeAt } from '../cluster/s3/s3-server.ts';

const main = resolve(import.meta.dirname, '../../../dist/src/cli/main.js');
const PAGES = 120;
const KILLS = Number(process.env.INCRAWL_KILLS ?? 6);
const SEED = Number(process.env.INCRAWL_SEED ?? 20261123);

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe.skipIf(NO_S3 !== null)(`segments in an object store${NO_S3 === null ? '' : `: ${NO_S3}`}`, () => {
  let site: TestSite;
  let server: S3Server;
  let proxy: FaultyS3;
  let dir: string;
  const ran: Ended[] = [];

  async function incrawl(args: readonly string[], killAfterMs?: number, env = {}): Promise<Ended> {
    const child = spawn(process.execPath, [main, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...S3_ENV, AWS_ENDPOINT_URL_S3: proxy.endpoint, ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((done) => child.on('close', done));
    if (killAfterMs !== undefined) {
      await Promise.race([ended, delay(killAfterMs)]);
      child.kill('SIGKILL');
    }
    ran.push({ code: await ended, stdout, stderr });
    return ran.at(-1) as Ended;
  }
  const placed = (prefix: string): string[] => ['-D', `segments.store=s3://${BUCKET}/${prefix}`];
  const crawl = (name: string, more: readonly string[] = []): string[] => [
    ...['crawl', `${site.origin}/p/0`, '--dir', join(dir, name), '--delay', '0', '--allow', '127.0.0.1', '--quiet'],
    ...more,
  ];
  const lines = async (args: readonly string[]): Promise<Record<string, unknown>[]> => {
    const { code, stdout, stderr } = await incrawl(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const endState = async (name: string): Promise<unknown[]> =>
    (await lines(['readdb', '--dump', '--format', 'jsonl', '--dir', join(dir, name)])).map(
      ({ url, state, depth, digest, signature, title, failures }) => [
        url,
        state,
        depth,
        digest,
        signature,
        title,
        failures,
      ],
    );
  /** What an export shows, in the order of URLs and without times. */
  const exported = async (name: string, more: readonly string[] = []): Promise<unknown[]> =>
    (await lines(['export', '--format', 'jsonl', '--dir', join(dir, name), ...more]))
      .map(({ fetchedAt, changedAt, ...rest }) => rest)
      .sort((a, b) => (String(a.url) < String(b.url) ? -1 : 1));
  const objectsBelow = async (prefix: string): Promise<string[]> => {
    const store = storeAt(server.endpoint, prefix);
    const found = (await all(store.list(''))).map(({ key, etag }) => `${key} ${etag}`);
    await store.close();
    return found;
  };

  beforeAll(async () => {
    site = await startTestSite(PAGES);
    server = await startS3();
    proxy = await startFaultyS3(server.endpoint);
    dir = await mkdtemp(join(tmpdir(), 'incrawl-objects-'));
  });
  afterAll(async () => {
    await site?.close();
    await proxy?.stop();
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('a crawl ends as one with a folder, and every command finds its pages', { timeout: 600_000 }, async () => {
    const own = placed('crawl');
    expect(await incrawl(crawl('folder'))).toMatchObject({ code: 0, stderr: '' });
    expect(await incrawl(crawl('objects', own))).toMatchObject({ code: 0, stderr: '' });
    expect(await endState('objects')).toEqual(await endState('folder'));
    expect(await exported('objects', own)).toEqual(await exported('folder'));
    // Nothing stays behind on this machine but what the crawl db is.
    expect(readdirSync(join(dir, 'objects', 'spool'))).toEqual([]);
    expect(readdirSync(join(dir, 'objects')).includes('segments')).toBe(false);

    const inObjects = ['--dir', join(dir, 'objects'), ...own];
    const page = `${site.origin}/p/17`;
    const read = await incrawl(['readseg', '--get', page, ...inObjects]);
    expect(read, read.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/response +200/) });
    const inFolder = ['--dir', join(dir, 'folder')];
    const dumped = async (where: string[]) =>
      (await lines(['readseg', '--dump', '--format', 'jsonl', ...where])).length;
    expect(await dumped(inObjects)).toBe(await dumped(inFolder));
    const versions = await incrawl(['diff', page, '--list', ...inObjects]);
    expect(versions, versions.stderr).toMatchObject({ code: 0 });
    expect(await incrawl(['explain', page, ...inObjects])).toMatchObject({ code: 0 });
    const verified = await incrawl(['state', 'verify', '--deep', '--json', ...inObjects]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);

    // A dry run changes nothing that is stored.
    const before = await objectsBelow('crawl/');
    for (const dry of [
      [...crawl('objects', own), '--dry-run'],
      ['reparse', '--dry-run', ...inObjects],
    ]) {
      const { code, stderr } = await incrawl(dry);
      expect(code, stderr).toBe(0);
    }
    expect(await objectsBelow('crawl/')).toEqual(before);

    const reparsed = await incrawl(['reparse', ...inObjects, '-D', 'parse.maxText=1000']);
    expect(reparsed.code, reparsed.stderr).toBe(0);
    expect(await incrawl(['reparse', ...inFolder, '-D', 'parse.maxText=1000'])).toMatchObject({ code: 0 });
    expect(await exported('objects', own)).toEqual(await exported('folder'));
    const backup = await incrawl(['state', 'backup', join(dir, 'backup'), ...inObjects]);
    expect(backup.code, backup.stderr).toBe(0);
    const restored = await incrawl(['state', 'restore', join(dir, 'backup'), '--dir', join(dir, 'restored')]);
    expect(restored.code, restored.stderr).toBe(0);
    expect(await exported('restored', own)).toEqual(await exported('folder'));
    rmSync(join(dir, 'restored'), { recursive: true });
    const pruned = await incrawl(['state', 'prune', '--keep-days', '0', '--compact', ...inObjects]);
    expect(pruned.code, pruned.stderr).toBe(0);
    expect(await exported('objects', own)).toEqual(await exported('folder'));
    expect((await incrawl(['state', 'verify', '--deep', ...inObjects])).code).toBe(0);
    expect(await incrawl(['state', 'repair', ...inObjects])).toMatchObject({ code: 0 });
  });

  it('exports to an object store as to files', { timeout: 600_000 }, async () => {
    const from = ['--dir', join(dir, 'folder')];
    const textOf = async (key: string): Promise<string | undefined> => {
      const store = storeAt(server.endpoint, 'exports/');
      const found = await store.get(key);
      await store.close();
      return found?.bytes.toString();
    };
    const file = await incrawl(['export', ...from, '-o', join(dir, 'pages.jsonl')]);
    expect(file.code).toBe(0);
    const place = `s3://${BUCKET}/exports/day/pages.jsonl`;
    const stored = await incrawl(['export', ...from, '-o', place, '--json']);
    expect(stored.code, stored.stderr).toBe(0);
    expect(JSON.parse(stored.stdout)).toMatchObject({ file: place, documents: PAGES });
    expect(await textOf('day/pages.jsonl')).toBe(readFileSync(join(dir, 'pages.jsonl'), 'utf8'));
    const archive = await incrawl(['export', ...from, '--format', 'warc', '-o', `s3://${BUCKET}/exports/a.warc.gz`]);
    expect(archive.code, archive.stderr).toBe(0);
    expect((await textOf('a.cdxj'))?.split('\n').length).toBeGreaterThan(PAGES);
    const tree = await incrawl(['export', ...from, '--format', 'tree', '-o', `s3://${BUCKET}/exports/mirror/`]);
    expect(tree.code, tree.stderr).toBe(0);
    expect((await textOf('mirror/index.jsonl'))?.trim().split('\n').length).toBe(PAGES);
    expect((await objectsBelow('exports/mirror/')).length).toBe(PAGES + 1);
    // Nothing takes the place of what is there: no empty export, none that fails.
    const empty = ['export', ...from, '--host', 'absent.example', '-o', place];
    expect(await incrawl(empty)).toMatchObject({ code: 2, stderr: expect.stringContaining('it is left as it is') });
    expect((await textOf('day/pages.jsonl'))?.split('\n').length).toBe(PAGES + 1);
    expect((await incrawl([...empty, '--force'])).code).toBe(0);
    expect(await textOf('day/pages.jsonl')).toBe('');
    for (const wrong of [
      ['-o', 's3://absent/x.jsonl'],
      ['-o', 's3://NO/x'],
      ['-o', `s3://${BUCKET}`],
      ['--format', 'webhook', '-o', `s3://${BUCKET}/hook`],
      ['--format', 'tree', '--since', '1d', '-o', `s3://${BUCKET}/exports/mirror/`],
    ]) {
      const { code, stderr } = await incrawl(['export', ...from, ...wrong]);
      expect([1, 2], `${wrong} ${stderr}`).toContain(code);
      expect(stderr).not.toContain(tmpdir());
    }
  });

  it('a place belongs to one crawl, and a crawl has one place', { timeout: 600_000 }, async () => {
    const other = await incrawl(crawl('other', placed('crawl')));
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('segments of another crawl') });
    const moved = await incrawl(['readseg', '--list', '--dir', join(dir, 'objects'), ...placed('elsewhere')]);
    expect(moved).toMatchObject({ code: 2, stderr: expect.stringContaining('set segments.store to it') });
    const local = await incrawl(['readseg', '--list', '--dir', join(dir, 'objects')]);
    expect(local).toMatchObject({ code: 2, stderr: expect.stringContaining('set segments.store to it') });
    const late = await incrawl(crawl('folder', placed('late')));
    expect(late).toMatchObject({ code: 2, stderr: expect.stringContaining('a crawl has its segments in one place') });
    const merged = await incrawl([
      'db',
      'merge',
      join(dir, 'folder'),
      '--dir',
      join(dir, 'objects'),
      ...placed('crawl'),
    ]);
    expect(merged).toMatchObject({ code: 2, stderr: expect.stringContaining('a merge works on segments') });
  });

  it('says what to do without credentials, bucket or server', { timeout: 600_000 }, async () => {
    const without = await incrawl(crawl('none', placed('none')), undefined, { AWS_ACCESS_KEY_ID: '', HOME: dir });
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('AWS_ACCESS_KEY_ID') });
    const bucket = await incrawl(crawl('none', ['-D', 'segments.store=s3://absent/x']));
    expect(bucket).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no such bucket') });
    const away = await incrawl(
      crawl('none', [...placed('x'), '-D', 's3.patience=1s', '-D', 's3.endpoint=http://127.0.0.1:1']),
    );
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('run the command again') });
  });

  it(`${KILLS} kills and a store that fails (seed ${SEED}) end in the same state as neither`, {
    timeout: 600_000,
  }, async () => {
    const random = seeded(SEED);
    const faults: Fault[] = ['503', 'reset', 'lost', 'torn', 'slow'];
    proxy.fault = () => (random() < 0.1 ? (faults[Math.floor(random() * faults.length)] as Fault) : null);
    // Small parts, so that many are under way when it is killed.
    const own = [...placed('killed'), '-D', 'segments.sealEvery=1s'];
    for (let kill = 0; kill < KILLS; kill++) {
      const ended = await incrawl(crawl('killed', own), 400 + random() * 2_500);
      expect([null, 0], ended.stderr).toContain(ended.code);
      // Every other time the machine is lost as well, with all that was not stored.
      if (kill % 2 === 1) rmSync(join(dir, 'killed', 'spool'), { recursive: true, force: true });
    }
    const last = await incrawl(crawl('killed', own));
    expect(last.code, last.stderr).toBe(0);
    proxy.fault = () => null;
    expect((await incrawl(crawl('whole'))).code).toBe(0);
    expect(await endState('killed')).toEqual(await endState('whole'));
    expect(await exported('killed', own)).toEqual(await exported('whole'));
    const verified = await incrawl(['state', 'verify', '--deep', '--dir', join(dir, 'killed'), ...own]);
    expect(verified.code, verified.stdout).toBe(0);
  });

  it('no secret is in any output or file', () => {
    const secret = S3_ENV.AWS_SECRET_ACCESS_KEY;
    for (const { stdout, stderr } of ran) expect(stdout + stderr).not.toContain(secret);
    for (const name of readdirSync(dir, { recursive: true }) as string[]) {
      const file = join(dir, name);
      if (statSync(file).isFile()) expect(readFileSync(file).includes(secret), name).toBe(false);
    }
  });
});
