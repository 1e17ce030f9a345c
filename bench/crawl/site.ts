/**
 * The benchmark's site, in a process of its own so that its CPU is not counted. Prints its origins as one line of JSON.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { seeded } from '../seeded.ts';
import { realPage } from './real-page.ts';

const PAGES = Number(process.argv[2] ?? 5_000);
const HOSTS = Number(process.argv[3] ?? 5);
/** Pages of the size and make of real ones. */
const IS_REAL = process.argv[4] === 'real';
const LINKS = 60;
const PAGE_BYTES = 36_000;

const versions = new Uint32Array(PAGES);
const removed = new Set<number>();
/** Per page: GETs answered with a body, and body bytes handed to the socket. */
let log: { requests: number; gets: Record<string, number>; bodyBytes: number } = {
  requests: 0,
  gets: {},
  bodyBytes: 0,
};
const startedAt = Date.UTC(2026, 0, 1);

const VOCABULARY = (() => {
  const next = seeded(42);
  const letter = (): string => String.fromCharCode(97 + Math.floor(next() * 26));
  return Array.from({ length: 4_000 }, () => Array.from({ length: 3 + Math.floor(next() * 8) }, letter).join(''));
})();

let origins: string[] = [];
const urlOf = (page: number): string => `${origins[page % HOSTS]}/page/${page}.html`;

/** A tree of links reaches every page; the rest of the links go anywhere. */
function html(page: number): string {
  const next = seeded(page + 1);
  const edit = seeded(page * 7_919 + (versions[page] ?? 0));
  const word = (from: () => number): string => VOCABULARY[Math.floor(from() * VOCABULARY.length)] ?? '';
  const text = (words: number, from: () => number): string => Array.from({ length: words }, () => word(from)).join(' ');
  const targets: number[] = [];
  for (let i = 1; i <= 8; i++) if (8 * page + i < PAGES) targets.push(8 * page + i);
  while (targets.length < LINKS) targets.push(Math.floor(next() * PAGES));
  if (IS_REAL) return realPage(page + 1, { urls: targets.map(urlOf) }, edit);
  const link = (target: number): string => `<a class="link" href="${urlOf(target)}">${text(3, next)}</a>`;
  const nav = targets
    .slice(0, 20)
    .map((target) => `<li class="nav-item">${link(target)}</li>`)
    .join('\n');
  const aside = targets
    .slice(20, 40)
    .map((target) => `<div class="teaser"><h3>${text(4, next)}</h3>${link(target)}</div>`)
    .join('\n');
  const rest = targets.slice(40);
  let article = '';
  for (let i = 0; article.length < PAGE_BYTES / 2; i++) {
    const inline = rest[i] === undefined ? '' : ` ${link(rest[i] as number)} `;
    article += `<p class="body-text" data-id="${i}">${text(40, i === 3 ? edit : next)}${inline}${text(25, next)}</p>\n`;
  }
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(6, next)}</title><meta name="description" content="${text(20, next)}"></head>`;
  const footer = rest.slice(10).map(link).join(' | ');
  const body = `${head}<body><header><nav><ul>${nav}</ul></nav></header><main><article><h1>${text(8, next)}</h1>${article}</article></main><aside>${aside}</aside><footer>${footer}</footer>`;
  const filler = Math.max(0, PAGE_BYTES - body.length - 60);
  return `${body}<script>var data="${'x'.repeat(filler)}"</script></body></html>`;
}

/** A third of the pages each: ETag; Last-Modified and Content-Length without 304; both with 304. */
function answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
  const path = request.url ?? '/';
  if (path.startsWith('/control/')) return control(path, response);
  log.requests++;
  if (path === '/robots.txt')
    return response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nAllow: /\n');
  const page = Number(/^\/page\/(\d+)\.html$/.exec(path)?.[1] ?? Number.NaN);
  if (!(page < PAGES) || removed.has(page)) return response.writeHead(404).end('gone');
  const body = html(page);
  const kind = page % 3;
  const lastModified = new Date(startedAt + (versions[page] ?? 0) * 60_000).toUTCString();
  const headers: Record<string, string> = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  };
  if (kind !== 1) headers.etag = `"${createHash('sha1').update(body).digest('hex').slice(0, 16)}"`;
  if (kind !== 0) headers['last-modified'] = lastModified;
  const isCurrent =
    request.headers['if-none-match'] === headers.etag || request.headers['if-modified-since'] === lastModified;
  if (kind !== 1 && headers.etag !== undefined && isCurrent) {
    return response.writeHead(304, { etag: headers.etag }).end();
  }
  response.writeHead(200, headers);
  if (request.method === 'HEAD') return response.end();
  log.gets[page] = (log.gets[page] ?? 0) + 1;
  log.bodyBytes += Buffer.byteLength(body);
  return response.end(body);
}

function control(path: string, response: ServerResponse): ServerResponse {
  const reply = (value: unknown): ServerResponse => response.writeHead(200).end(JSON.stringify(value));
  if (path === '/control/log') {
    const answered = reply(log);
    log = { requests: 0, gets: {}, bodyBytes: 0 };
    return answered;
  }
  if (path !== '/control/change') return reply({});
  const changed: number[] = [];
  for (let page = 10; page < PAGES; page += 20) {
    versions[page] = (versions[page] ?? 0) + 1;
    changed.push(page);
  }
  for (let i = 0; i < 20; i++) removed.add(PAGES - 1 - i * 3);
  const alive = changed.filter((page) => !removed.has(page));
  const bytes = alive.reduce((sum, page) => sum + Buffer.byteLength(html(page)), 0);
  return reply({ changed: alive, removed: [...removed], bytes });
}

/** Whether the loopback interface has 127.0.0.2 and on; elsewhere the hosts differ by port. */
const wholeBlock =
  process.platform === 'linux' &&
  Object.values(networkInterfaces())
    .flat()
    .some((each) => each?.address === '127.0.0.1');
const servers = await Promise.all(
  Array.from(
    { length: HOSTS },
    (_, host) =>
      new Promise<string>((resolve) => {
        const server = createServer({ keepAliveTimeout: 60_000 }, answer);
        const address = wholeBlock ? `127.0.0.${host + 1}` : '127.0.0.1';
        server.listen(0, address, () => resolve(`http://${address}:${(server.address() as AddressInfo).port}`));
      }),
  ),
);
origins = servers;
process.stdout.write(`${JSON.stringify(origins)}\n`);
process.on('disconnect', () => process.exit(0));
