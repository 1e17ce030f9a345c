import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { run, start } from '../../support/binary.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** Longer than the 10 s that are promised, for a busy machine; shorter than anything that is pending. */
const IN_TIME_MS = 30_000;

async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  server = createServer({}, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Rejects where the process has not ended in time; resolves with its exit code. */
async function ended({ child, finished }: ReturnType<typeof start>): Promise<number | null> {
  child.kill('SIGTERM');
  const late = new AbortController();
  const tooLate = wait(IN_TIME_MS, null, { signal: late.signal }).then(() => {
    child.kill('SIGKILL');
    throw new Error(`still there ${IN_TIME_MS / 1_000} s after the signal`);
  });
  return Promise.race([finished.then(({ code }) => code), tooLate]).finally(() => {
    tooLate.catch(() => {});
    late.abort();
  });
}

it('a signal ends a crawl in time while a server says nothing', async () => {
  let asked: (() => void) | undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const origin = await serve((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else asked?.();
  });
  const cwd = workDir();
  const args = ['crawl', `${origin}/`, '--allow', '127.0.0.1', '-D', 'http.headTimeout=10m', '-D', 'http.timeout=1h'];
  const running = start(args, { cwd });
  await isAsked;
  expect([11, 13]).toContain(await ended(running));
  expect((await run(['state', 'verify'], { cwd })).code).toBe(0);
});
