import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly bodyBytes: number;
}

/** A site of numbered pages that keeps its own log; versions are raised by hand. */
export interface TestSite {
  readonly origin: string;
  readonly pages: number;
  readonly log: Request[];
  readonly versions: number[];
  readonly removed: Set<number>;
  bodyBytesOf(page: number): number;
  close(): Promise<void>;
}

const DATE_OF_VERSION_0 = Date.UTC(2026, 0, 1);

/**
 * Page i links to its children 4i+1 .. 4i+4, to its neighbours and home. By i mod 4 it answers with an ETag, with
 * Last-Modified and Content-Length but never 304, with both and 304, or with no validator at all.
 */
export async function startTestSite(pages: number): Promise<TestSite> {
  const versions = Array.from({ length: pages }, () => 0);
  const removed = new Set<number>();
  const log: Request[] = [];
  const html = (page: number): string => {
    const children = [1, 2, 3, 4].map((i) => 4 * page + i).filter((child) => child < pages);
    const links = [...children, (page + 1) % pages, (page + pages - 1) % pages, 0].map(
      (to) => `<a href="/p/${to}">page ${to}</a>`,
    );
    const words = Array.from(
      { length: 200 },
      // Scattered, so that no two pages share a run of words.
      (_, i) =>
        `w${(Math.imul(page * 1_009 + i + (i > 100 ? versions[page]! * 331_777 : 0), 0x9e37_79b1) >>> 8) % 997}`,
    );
    return `<!doctype html><title>Page ${page}</title><nav>${links.join(' ')}</nav><p>${words.join(' ')}</p>`;
  };
  const server: Server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const path = request.url ?? '/';
    const send = (status: number, headers: Record<string, string>, body: string): void => {
      const isBodiless = request.method === 'HEAD' || status === 304;
      log.push({ method: request.method ?? '', path, status, bodyBytes: isBodiless ? 0 : Buffer.byteLength(body) });
      response.writeHead(status, headers);
      response.end(isBodiless ? '' : body);
    };
    if (path === '/robots.txt') return send(200, { 'content-type': 'text/plain' }, 'User-agent: *\nDisallow: /never\n');
    const page = Number(/^\/p\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(page < pages) || removed.has(page)) return send(404, { 'content-type': 'text/plain' }, 'gone\n');
    const body = html(page);
    const lastModified = new Date(DATE_OF_VERSION_0 + versions[page]! * 60_000).toUTCString();
    const etag = `"${page}-${versions[page]}"`;
    const kind = page % 4;
    const headers: Record<string, string> = {
      'content-type': 'text/html',
      'content-length': String(Buffer.byteLength(body)),
    };
    if (kind === 0) headers.etag = etag;
    if (kind === 1 || kind === 2) headers['last-modified'] = lastModified;
    if (kind === 0 && request.headers['if-none-match'] === etag) return send(304, { etag }, '');
    if (kind === 2 && request.headers['if-modified-since'] === lastModified) return send(304, {}, '');
    return send(200, headers, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    log,
    versions,
    removed,
    bodyBytesOf: (page) => Buffer.byteLength(html(page)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
