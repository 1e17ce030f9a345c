import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed, visiting } from '../../integration/visiting.ts';

const main = resolve(import.meta.dirname, '../../../dist/src/cli/main.js');
const KILLS = Number(process.env.INCRAWL_KILLS ?? 8);

it('a stop between a redirect and its target loses neither, and fetches neither twice', async () => {
  const stop = new AbortController();
  const { crawler, origin, asked, reopen } = await visiting(({ url }, response) => {
    if (url === '/b') stop.abort();
    const location = { '/a': '/b', '/b': '/c' }[url ?? ''];
    if (location !== undefined) response.writeHead(302, { location }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<p>a page');
  });
  const stopped = await crawler.crawl({ ...seed(`${origin}/a`), signal: stop.signal });
  // The target of the last redirect had no chance to join; the two before are done.
  expect(stopped.rounds.length + Number(stopped.interrupted !== undefined)).toBe(1);
  const next = await reopen();
  await next.crawl();
  expect(asked).toEqual(['GET /a', 'GET /b', 'GET /c']);
  expect(await next.record(`${origin}/c`)).toMatchObject({ state: 'fetched', metadata: { redirects: 2 } });
  expect(await next.stats()).toMatchObject({ urls: 3, leased: 0 });
});

describe('kill -9 while redirects are followed', () => {
  const hops = 12;
  const asked = new Map<string, number>();
  let server: Server;
  let origin = '';
  let onRequest: (path: string) => void = () => {};
  const folders: string[] = [];
  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      asked.set(url, (asked.get(url) ?? 0) + 1);
      onRequest(url);
      const [, name = '', hop = '0'] = url.split('/');
      if (url === '/robots.txt') response.writeHead(404).end();
      else if (Number(hop) < hops) response.writeHead(302, { location: `/${name}/${Number(hop) + 1}` }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>the page of ${name}`);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const folder = (name: string): string => {
    const dir = join(tmpdir(), `incrawl-redirects-${process.pid}-${name}`);
    folders.push(dir);
    return dir;
  };

  /** Runs the built command; resolves with its exit code and output. `kill` ends it with SIGKILL. */
  async function incrawl(args: readonly string[], kill?: (now: () => void) => void) {
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    kill?.(() => child.kill('SIGKILL'));
    const code = await new Promise<number | null>((done) => child.on('close', done));
    return { code, stdout, stderr };
  }

  const crawl = (dir: string, pause: string): string[] => [
    ...['crawl', `${origin}/one/0`, `${origin}/two/0`, '--dir', dir],
    ...['--delay', pause, '--allow', '127.0.0.1', '--quiet'],
  ];

  async function endState(dir: string) {
    const { stdout } = await incrawl(['readdb', '--dump', '--format', 'jsonl', '--dir', dir]);
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return records.map(({ url, state, depth, target, digest, failures, referrer, metadata }) => {
      return { url, state, depth, target, digest, failures, referrer, metadata };
    });
  }

  async function isWhole(dir: string): Promise<void> {
    const { stdout } = await incrawl(['readdb', '--stats', '--json', '--dir', dir]);
    expect(JSON.parse(stdout)).toMatchObject({ urls: 2 * (hops + 1), leased: 0, due: 0 });
    expect(await incrawl(['state', 'verify', '--dir', dir])).toMatchObject({ code: 0 });
  }

  it('kills at any moment end in the same state as none', { timeout: 240_000 }, async () => {
    const whole = folder('whole');
    expect(await incrawl(crawl(whole, '0'))).toMatchObject({ code: 0, stderr: '' });
    const killed = folder('killed');
    for (let number = 0; number < KILLS; number++) {
      const path = `/${number % 2 === 0 ? 'one' : 'two'}/${number + 1}`;
      const ended = await incrawl(crawl(killed, '20ms'), (now) => {
        // As the target is asked for, or a moment later: when its answer is stored, and its own target joins.
        onRequest = (each) => {
          if (each === path) void delay(number * 3).then(now);
        };
      });
      onRequest = () => {};
      expect([null, 0], ended.stderr).toContain(ended.code);
    }
    asked.clear();
    expect(await incrawl(crawl(killed, '0'))).toMatchObject({ code: 0, stderr: '' });
    for (const [path, times] of asked) expect(times, path).toBe(1);
    expect(await endState(killed)).toEqual(await endState(whole));
    await isWhole(killed);
  });

  it('what was fetched before the kill is not fetched again', { timeout: 120_000 }, async () => {
    const dir = folder('once');
    asked.clear();
    // Records are on disk a second after they came, at the latest.
    await incrawl(crawl(dir, '300ms'), (now) => {
      onRequest = (each) => {
        if (each === '/two/6') now();
      };
    });
    onRequest = () => {};
    const before = new Map(asked);
    asked.clear();
    expect(await incrawl(crawl(dir, '0'))).toMatchObject({ code: 0, stderr: '' });
    const again = [...asked.keys()].filter((path) => before.has(path) && path !== '/robots.txt');
    expect(again.length).toBeLessThan(before.size - 2);
    expect(again).toContain('/two/6');
    await isWhole(dir);
  });
});
