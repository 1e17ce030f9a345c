import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import { json, run } from '../../support/program.ts';
import { SHIPPED_PLUGINS } from '../../support/shipped-plugins.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const PAGES = ['/', '/a.html', '/b.html', '/c.html'];
const pageOf = (path: string): string =>
  `<!doctype html><title>At ${path}</title><main><p>${`Words of ${path}, which nobody else says. `.repeat(20)}</p>${PAGES.map((to) => `<a href="${to}">${to}</a>`).join(' ')}</main>`;

let connections = 0;
/** Pages with an entity tag, packed by gzip; `/old` moves on. */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const etag = `"${path}"`;
  if (!PAGES.includes(path)) response.writeHead(404).end();
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else {
    const body = gzipSync(pageOf(path));
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'gzip',
      'content-length': body.length,
      etag,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
});
server.on('connection', () => connections++);
const site = served(server);

/** A folder whose crawls use the shipped plugins with another protocol. */
function folderWith(protocols: string): string {
  const cwd = workDir();
  writeFileSync(
    join(cwd, 'incrawl.yaml'),
    'fetch: { delay: 0, auditShare: 0 }\nhttp: { allowAddresses: [127.0.0.1] }\n',
  );
  writeFileSync(join(cwd, 'plugins.yaml'), SHIPPED_PLUGINS.replace('  - protocol-http\n', protocols));
  return cwd;
}

async function warcRecords(cwd: string): Promise<string[]> {
  const files = readdirSync(join(cwd, 'crawldb'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.warc.gz'),
  );
  const found: string[] = [];
  for (const file of files.sort()) {
    for await (const record of new WARCParser(createReadStream(join(cwd, 'crawldb', file)))) {
      const body = Buffer.from(await record.readFully(true)).toString();
      if (record.warcType === 'warcinfo') continue;
      const { pathname } = new URL(record.warcTargetURI ?? '');
      expect(record.warcHeader('WARC-IP-Address')).toBe('127.0.0.1');
      expect(body).toBe(record.warcType === 'response' ? pageOf(pathname) : '');
      found.push(`${record.warcType} ${record.httpHeaders?.statusline} ${pathname}`);
    }
  }
  return found.sort();
}

it('without a plugin list, requests go through got', async () => {
  const { stdout } = await run(['plugins', 'list'], { cwd: workDir() });
  expect(stdout).toMatch(/^protocol-http\s/m);
  expect(stdout).not.toContain('protocol-undici');
});

it.each([
  ['protocol-undici', 'protocol-http'],
  ['protocol-http', 'protocol-undici'],
])('two crawls through %s: pages, then 304s, in WARC files that others read', async (protocol, other) => {
  const cwd = folderWith(`  - ${protocol}\n`);
  const { stdout } = await run(['plugins', 'list'], { cwd });
  expect(stdout).toMatch(new RegExp(`^${protocol}\\s`, 'm'));
  expect(stdout).not.toContain(other);

  connections = 0;
  const first = await json<CrawlSummary>(['crawl', `${site.origin}/`], { cwd });
  expect(first.totals).toMatchObject({ new: 4, failed: 0 });
  // One for robots.txt and all pages.
  expect(connections).toBe(1);

  expect(
    await json(['due', 'touch', '--stdin'], { cwd, input: PAGES.map((path) => site.origin + path).join('\n') }),
  ).toMatchObject({
    touched: 4,
  });
  const second = await json<CrawlSummary>(['crawl'], { cwd });
  expect(second.totals).toMatchObject({ notModified: 4, failed: 0, bodyBytes: 0 });

  expect(await warcRecords(cwd)).toEqual([
    ...PAGES.map((path) => `response HTTP/1.1 200 OK ${path}`),
    ...PAGES.map((path) => `revisit HTTP/1.1 304 Not Modified ${path}`),
  ]);
});

it('both protocols without a winner are refused, since both serve http', async () => {
  const cwd = folderWith('  - protocol-http\n  - protocol-undici\n');
  const { code, stderr } = await run(['crawl', `${site.origin}/`], { cwd });
  expect(stderr).toContain('protocol-http and protocol-undici both claim the scheme http');
  expect(code).toBe(2);
});
