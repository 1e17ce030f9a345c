import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gate } from './gate.ts';

export interface LocalSite {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Paths asked for with GET, in order. */
  readonly log: readonly string[];
  /** Resolves when so many requests for pages have come. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

const LAST_MODIFIED = 'Mon, 02 Mar 2026 10:00:00 GMT';

/**
 * `/` links to `pages` pages in a row, to `/old` (moved to `/page/1`), to `/missing` and to `/private/x`, which
 * robots.txt forbids. `answerAfterMs` makes every page slow; a page waits for the `gate`.
 */
export async function startSite(options: {
  readonly pages: number;
  readonly answerAfterMs?: number;
  readonly gate?: Gate;
}): Promise<LocalSite> {
  const log: string[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') {
      response.setHeader('content-type', 'text/plain');
      response.end('User-agent: *\nDisallow: /private/\n');
      return;
    }
    if (path === '/sitemap.xml') {
      response.writeHead(404).end();
      return;
    }
    if (request.method === 'GET') log.push(path);
    waiting = waiting.filter(({ count, resolve }) => log.length < count || resolve());
    const send = (): void => answer(path, options.pages, response);
    if (options.gate !== undefined) return options.gate.pass(send);
    if (options.answerAfterMs === undefined) return send();
    const timer = setTimeout(send, options.answerAfterMs);
    response.on('close', () => clearTimeout(timer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    seen: (count) =>
      log.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(path: string, pages: number, response: ServerResponse): void {
  const html = (title: string, body: string): void => {
    const text = `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.setHeader('content-length', Buffer.byteLength(text));
    response.setHeader('last-modified', LAST_MODIFIED);
    response.end(text);
  };
  const number = Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (path === '/') {
    const links = Array.from({ length: pages }, (_, i) => `<a href="/page/${i + 1}">page ${i + 1}</a>`);
    html(
      'The start',
      `<p>Welcome to the start.</p>${links.join(' ')} <a href="/old">old</a> <a href="/missing">x</a> <a href="/private/x">p</a>`,
    );
  } else if (number >= 1 && number <= pages) {
    html(
      `=Page ${number}`,
      `<p>${Array.from({ length: 60 }, (_, i) => `word${(i * number) % 97}`).join(' ')}</p><a href="/">home</a>`,
    );
  } else if (path === '/old') {
    response.writeHead(301, { location: '/page/1' }).end();
  } else {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  }
}
