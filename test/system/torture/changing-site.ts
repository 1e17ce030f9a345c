import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChangingSite {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Raised by hand: every third page changes, the last of `/old/` are gone, those of `/new/` are there from 2 on. */
  version: number;
  close(): Promise<void>;
}

const PAGES = 24;
const WORDS = 120;

/**
 * Pages for every command that writes: near duplicates, links of one template that stand apart from the text, a page
 * that moves, one that fails, ETags and dates. The same request gives the same answer within a version.
 */
export async function startChangingSite(): Promise<ChangingSite> {
  const site = { origin: '', version: 1 };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const found = answer(path, site.version);
    const etag = found.etag === undefined ? {} : { etag: found.etag };
    if (found.etag !== undefined && request.headers['if-none-match'] === found.etag) {
      response.writeHead(304, etag).end();
      return;
    }
    response.writeHead(found.status, { 'content-type': 'text/html; charset=utf-8', ...etag, ...found.headers });
    response.end(request.method === 'HEAD' ? undefined : found.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(site, {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function answer(path: string, version: number): Answer {
  if (path === '/robots.txt') return { status: 200, body: 'User-agent: *\nDisallow: /private/\n' };
  if (path === '/moved') return { status: 301, headers: { location: `/page/${version}` } };
  if (path === '/broken') return { status: 500, body: 'broken' };
  const [, folder, digits] = /^\/(page|old|new|copy)\/(\d+)$/.exec(path) ?? [];
  const page = path === '/' ? 0 : Number(digits ?? Number.NaN);
  const isThere =
    path === '/' || (page < PAGES && !(folder === 'old' && version > 1) && !(folder === 'new' && version < 2));
  if (!isThere) return { status: 404, body: 'nothing here' };
  const shown = page % 3 === 0 ? version : 1;
  const body = html(folder ?? 'page', page, shown, version);
  return { status: 200, body, ...(page % 4 === 1 ? { etag: `"${page}-${shown}-${version}"` } : {}) };
}

function html(folder: string, page: number, shown: number, version: number): string {
  const next = (page + 1) % PAGES;
  const pages = [`/page/${next}`, `/page/${(2 * page + 3) % PAGES}`, `/copy/${page % 5}`, `/old/${page % 3}`];
  if (version > 1) pages.push(`/new/${page % 4}`);
  if (page === 0) pages.push('/moved', '/broken', '/private/x');
  const links = pages.map((path) => `<a href="${path}">read ${path}</a>`);
  const tags = Array.from(
    { length: 8 },
    (_, i) => `<li><a href="/tag/topic-${(page + i) % 12}.html?from=nav">t${i}</a></li>`,
  );
  // Copies have the text of the page of their number.
  const words = Array.from(
    { length: WORDS },
    (_, i) => `w${(Math.imul(page * 1_009 + i + (i < 40 ? shown * 331_777 : 0), 0x9e37_79b1) >>> 8) % 997}`,
  );
  return (
    `<!doctype html><html lang="en"><head><title>${folder} ${page}</title></head><body>` +
    `<div class="nav"><ul>${tags.join('')}</ul></div><main><h1>Page ${page}</h1><p>${words.slice(0, 60).join(' ')}</p>` +
    `<p>${words.slice(60).join(' ')}</p><p>${links.join(' and ')}</p></main></body></html>`
  );
}
