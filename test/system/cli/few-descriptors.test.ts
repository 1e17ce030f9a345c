import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { workDir } from '../../support/work-dir.ts';
import { BINARY, type Finished } from '../support/binary.ts';

/** More hosts than the program may have connections: the whole of 127.0.0.0/8 is this machine. */
const HOSTS = 150;
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') return void response.writeHead(404).end();
  response.setHeader('content-type', 'text/html');
  const text = `<title>${request.url}</title><p>Page of ${request.headers.host}<a href="/more">more</a>`;
  setTimeout(() => response.end(text), 50);
});

beforeAll(async () => {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The built program under `ulimit -n`, which a process can only lower for itself and its children. */
async function crawlWith(descriptors: number): Promise<Finished> {
  const { port } = server.address() as AddressInfo;
  const seeds = Array.from({ length: HOSTS }, (_, i) => `http://127.0.1.${i + 1}:${port}/`);
  const set = ['fetch.concurrency=200', 'fetch.delay=0s', 'http.allowAddresses=127.0.0.0/8', 'parse.threads=2'];
  const args = ['crawl', ...seeds, '--dir', join(workDir(), 'db'), '--json', ...set.flatMap((each) => ['-D', each])];
  const command = `ulimit -n ${descriptors}; exec "$@"`;
  const child = spawn('/bin/sh', ['-c', command, 'sh', process.execPath, BINARY, ...args], { stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

it.skipIf(process.platform !== 'linux').each([128, 200, 256])(
  'with %i descriptors and 200 concurrent requests wanted a crawl does fewer at a time, says so once, and fetches all',
  async (descriptors) => {
    const { code, stdout, stderr } = await crawlWith(descriptors);
    expect(stderr).not.toMatch(/EMFILE|could not be/);
    expect(stderr.match(/concurrent requests in place of 200 \(fetch.concurrency\)/g)).toHaveLength(1);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due', totals: { fetched: 2 * HOSTS, failed: 0 } });
  },
);

it.skipIf(process.platform !== 'linux')('with 64 descriptors it ends at once, and says what it needs', async () => {
  const { code, stderr } = await crawlWith(64);
  expect(code).toBe(1);
  expect(stderr).toMatch(/may open 64 files and connections, and a crawl needs \d+ at least: raise the limit/);
});
