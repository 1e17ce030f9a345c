import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSite, type TestSite } from '../../integration/site.ts';

const main = resolve(import.meta.dirname, '../../../dist/src/cli/main.js');
const PAGES = 250;
const KILLS = Number(process.env.INCRAWL_KILLS ?? 6);
const SEED = Number(process.env.INCRAWL_SEED ?? 20261120);

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

/** Runs the built command; SIGKILL ends it after `killAfterMs`. */
async function incrawl(args: readonly string[], killAfterMs?: number): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
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
  return { code: await ended, stdout, stderr };
}

/** State that must be equal at the end, with and without kills. */
async function endState(dir: string): Promise<unknown[]> {
  const { stdout } = await incrawl(['readdb', '--dump', '--format', 'jsonl', '--dir', dir]);
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return records.map(({ url, state, depth, digest, signature, title, failures }) => ({
    url,
    state,
    depth,
    digest,
    signature,
    title,
    failures,
  }));
}

describe('kill -9 in the middle of a crawl', () => {
  let site: TestSite;
  let dir: string;
  beforeAll(async () => {
    site = await startTestSite(PAGES);
    dir = await mkdtemp(join(tmpdir(), 'incrawl-kill-'));
  });
  afterAll(async () => {
    await site?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it(`${KILLS} kills at random moments (seed ${SEED}) end in the same state as none`, {
    timeout: 300_000,
  }, async () => {
    const crawl = (name: string): string[] => [
      'crawl',
      `${site.origin}/p/0`,
      '--dir',
      join(dir, name),
      '--delay',
      '0',
      '--allow',
      '127.0.0.1',
      '--quiet',
    ];
    const whole = await incrawl(crawl('whole'));
    expect(whole).toMatchObject({ code: 0 });
    const random = seeded(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      const ended = await incrawl(crawl('killed'), 250 + random() * 900);
      // Killed, or done before that; never an error of its own.
      expect([null, 0], ended.stderr).toContain(ended.code);
    }
    const last = await incrawl(crawl('killed'));
    expect(last.stderr).toBe('');
    expect(last.code).toBe(0);
    expect(await endState(join(dir, 'killed'))).toEqual(await endState(join(dir, 'whole')));
    const stats = JSON.parse((await incrawl(['readdb', '--stats', '--json', '--dir', join(dir, 'killed')])).stdout);
    expect(stats).toMatchObject({ urls: PAGES, due: 0, leased: 0, byStatus: { fetched: PAGES } });
    // The feed is written in the batch of the records: each page once, none lost, none repeated.
    const reported = await incrawl(['changes', '--since', '0', '--format', 'jsonl', '--dir', join(dir, 'killed')]);
    const changes = reported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; url: string });
    expect(changes.map(({ seq }) => seq)).toEqual(Array.from({ length: PAGES }, (_, i) => i + 1));
    expect(new Set(changes.map(({ url }) => url)).size).toBe(PAGES);
  });
});
