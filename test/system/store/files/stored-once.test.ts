import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { incompressible } from '../../../contracts/segment-records.ts';
import { workDir } from '../../../support/work-dir.ts';
import { run } from '../../support/binary.ts';

const PAGES = 40;
/** Hardly compressible, as a page of 20 KB of words is after gzip. */
const WORDS = incompressible(20_000, 3).toString('base64');
const BODY = `<!doctype html><title>One page</title><p>The same words under many addresses, as mirrors have them.<p>${WORDS}`;

let server: Server;
let origin = '';
const dir = join(workDir(), 'crawl');
const where = ['--dir', dir];

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html');
    if (url === '/') {
      response.end(Array.from({ length: PAGES }, (_, i) => `<a href="/same/${i}">${i}</a>`).join(' '));
    } else if (Number(url.split('/')[2]) % 2 === 0) response.end(BODY);
    else response.setHeader('content-encoding', 'gzip').end(gzipSync(BODY));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const network = ['--allow', '127.0.0.0/8', '--delay', '0', '--contact', 'a@example.org'];
  const options = ['-D', 'dedup.mode=off'];
  expect(await run(['crawl', `${origin}/`, ...network, ...options, ...where])).toMatchObject({ code: 0 });
}, 60_000);
afterAll(() => server.close());

const warcBytes = (): number =>
  (readdirSync(join(dir, 'segments'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.warc.gz'))
    .reduce((sum, name) => sum + statSync(join(dir, 'segments', name)).size, 0);

it('a body of many URLs takes the disk of one, and is whole for each of them', async () => {
  // As transferred: in two content codings.
  expect(warcBytes()).toBeLessThan(2 * BODY.length + PAGES * 1_500);
  expect(warcBytes()).toBeGreaterThan(BODY.length);
  const exported = await run(['export', ...where]);
  const lines = exported.stdout.trimEnd().split('\n');
  const texts = new Set(lines.map((line) => JSON.parse(line).title as string | null));
  expect([exported.code, lines.length, texts.has('One page')]).toEqual([0, PAGES + 1, true]);
  const tree = join(workDir(), 'tree');
  expect(await run(['export', '--format', 'tree', '-o', `${tree}/`, ...where])).toMatchObject({ code: 0 });
  const files = (readdirSync(tree, { recursive: true }) as string[]).filter((name) => name.includes('same/'));
  expect(files.length).toBe(PAGES);
  for (const file of files) expect(readFileSync(join(tree, file), 'utf8') === BODY, file).toBe(true);
  expect(await run(['state', 'verify', '--deep', ...where])).toMatchObject({ code: 0 });
  const again = await run(['reparse', '--json', ...where]);
  expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('error')]);
});

it('a WARC export has whole responses', async () => {
  const file = join(workDir(), 'pages.warc.gz');
  expect(await run(['export', '--format', 'warc', '-o', file, ...where])).toMatchObject({ code: 0 });
  const text = gunzipSync(readFileSync(file)).toString('latin1');
  expect(text.split('WARC-Type: response\r\n').length - 1).toBe(PAGES + 1);
  expect(text).not.toContain('WARC-Type: revisit');
});

it('pruning with --compact keeps what is referred to', async () => {
  expect(await run(['state', 'prune', '--keep-days', '0', '--compact', ...where])).toMatchObject({ code: 0 });
  const exported = await run(['export', '--format', 'warc', ...where]);
  expect(exported.code).toBe(0);
  expect(warcBytes()).toBeLessThan(2 * BODY.length + PAGES * 1_500);
  expect(await run(['state', 'verify', '--deep', ...where])).toMatchObject({ code: 0 });
});
