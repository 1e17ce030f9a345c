import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What stands for https://example.org in the docs: a front page, five articles and an imprint, all with an ETag;
 * article 1 is another text from its second reading on, article 5 is gone by then. `/private/` is forbidden by
 * robots.txt, `/old` has moved to the imprint.
 */
export async function startExampleSite(): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const readings = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /private/\n');
      return;
    }
    const reading = readings.get(path) ?? 0;
    if (request.method === 'GET') readings.set(path, reading + 1);
    if (path === '/old') {
      response.writeHead(301, { location: '/imprint' }).end();
      return;
    }
    const body = bodyOf(path, reading);
    if (body === null) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not here.\n');
      return;
    }
    const etag = `"${path}-${path === '/news/1' ? Math.min(reading, 1) : 0}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const html = `<!doctype html><html lang="en"><head><title>${titleOf(path)}</title></head><body><nav><a href="/">Home</a> <a href="/imprint">Imprint</a></nav><main>${body}</main></body></html>`;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag });
    response.end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const ARTICLES = 5;

const titleOf = (path: string): string =>
  path === '/' ? 'Example' : path === '/imprint' ? 'Imprint' : `Article ${path.slice(6)}`;

function bodyOf(path: string, reading: number): string | null {
  if (path === '/') {
    const links = Array.from({ length: ARTICLES }, (_, i) => `<li><a href="/news/${i + 1}">Article ${i + 1}</a></li>`);
    return `<h1>Example</h1><ul>${links.join('')}<li><a href="/old">Old</a></li><li><a href="/private/desk">Desk</a></li></ul>`;
  }
  if (path === '/imprint') return `<h1>Imprint</h1>${paragraphs(90)}`;
  const number = Number(/^\/news\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (!(number >= 1 && number <= ARTICLES) || (number === 5 && reading > 0)) return null;
  return `<article><h1>Article ${number}</h1>${paragraphs(number === 1 ? 10 * Math.min(reading, 1) : number)}</article>`;
}

/** Text of its own for each seed. */
function paragraphs(seed: number): string {
  const sentence = (i: number): string => {
    const words = Array.from(
      { length: 12 },
      (_, k) => `term${(Math.imul(seed * 131 + i * 17 + k, 0x9e37_79b1) >>> 7) % 1_999}`,
    );
    return `In short, ${words.join(' ')}.`;
  };
  return Array.from({ length: 6 }, (_, p) => `<p>${[0, 1, 2, 3].map((i) => sentence(4 * p + i)).join(' ')}</p>`).join(
    '',
  );
}
