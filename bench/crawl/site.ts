/**
 * The benchmark's site, in a process of its own so that its CPU is not counted. The argument is a `Site` as JSON. It
 * prints its origins as one line of JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { serve } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';
import { CodedBodies, codingFor } from './coded-bodies.ts';
import { madePage, type PageMake } from './made-page.ts';
import { realPage } from './real-page.ts';
import { linkTargets } from './site-links.ts';
import type { Site, SiteChange, SiteLog } from './site-process.ts';

const { pages, hosts, make } = JSON.parse(process.argv[2] ?? '') as Site;
const REAL_LINKS = 60;
const MAKES: Record<Exclude<Site['make'], 'real'>, PageMake> = {
  small: { bytes: 36_000, links: 60 },
  light: { bytes: 6_000, links: 24 },
  popular: { bytes: 36_000, links: 60 },
};

const versions = new Uint32Array(pages);
const removed = new Set<number>();
let changed = new Set<number>();
/** GETs of each page that were answered with a body. */
const gets = new Uint16Array(pages);
let requests = 0;
let bodyBytes = 0;
const startedAt = Date.UTC(2026, 0, 1);

let origins: string[] = [];
const hostOf = (page: number): number => page % hosts;
const urlOf = (page: number): string => `${origins[hostOf(page)]}/page/${page}.html`;
const versionOf = (page: number): number => versions[page] ?? 0;

/** Pages are made from their numbers. A tree of links reaches each of them; the rest of the links go anywhere. */
function html(page: number): string {
  const next = seeded(page + 1);
  const edit = seeded(page * 7_919 + versionOf(page));
  const links = make === 'real' ? REAL_LINKS : MAKES[make].links;
  const urls = linkTargets(page, { pages, links, isPopular: make === 'popular' }, next).map(urlOf);
  return make === 'real' ? realPage(page + 1, { urls }, edit) : madePage(MAKES[make], urls, next, edit);
}

/** Light pages are made for sites too large to be kept. */
const bodies = new CodedBodies(html, make !== 'light');

/** A third of the pages each: ETag; Last-Modified and Content-Length without 304; both with 304. */
function answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
  const path = request.url ?? '/';
  if (path.startsWith('/control/')) return control(path, response);
  requests++;
  if (path === '/robots.txt')
    return response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nAllow: /\n');
  const page = Number(/^\/page\/(\d+)\.html$/.exec(path)?.[1] ?? Number.NaN);
  if (!(page < pages) || removed.has(page)) return response.writeHead(404).end('gone');
  const coding = codingFor(hostOf(page), String(request.headers['accept-encoding'] ?? ''));
  const kind = page % 3;
  // As real servers do, each coding of a page has an entity tag of its own.
  const etag = `"${page}-${versionOf(page)}-${coding}"`;
  const lastModified = new Date(startedAt + versionOf(page) * 60_000).toUTCString();
  const { 'if-none-match': known, 'if-modified-since': since } = request.headers;
  const isCurrent = known === undefined ? since === lastModified : known === etag;
  if (kind !== 1 && isCurrent) return response.writeHead(304, { etag }).end();
  const body = bodies.bodyOf(page, versionOf(page), coding);
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    ...(kind === 1 ? {} : { etag }),
    ...(kind === 0 ? {} : { 'last-modified': lastModified }),
    vary: 'accept-encoding',
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
  });
  if (request.method === 'HEAD') return response.end();
  gets[page]!++;
  bodyBytes += body.length;
  return response.end(body);
}

function control(path: string, response: ServerResponse): ServerResponse {
  // The next call may come an hour later, when this connection would long have timed out.
  const reply = (value: unknown): ServerResponse =>
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify(value));
  if (path === '/control/log') return reply(takenLog());
  if (path === '/control/change') return reply(change());
  return response.writeHead(404).end();
}

function takenLog(): SiteLog {
  const log = {
    requests,
    bodyBytes,
    pages: gets.reduce((sum, each) => sum + Math.min(1, each), 0),
    twice: gets.reduce((sum, each) => sum + Math.min(1, each >> 1), 0),
    needless: gets.reduce((sum, each, page) => sum + (each > 0 && page % 3 !== 1 && !changed.has(page) ? 1 : 0), 0),
  };
  gets.fill(0);
  requests = 0;
  bodyBytes = 0;
  return log;
}

/** One page of twenty changes, on each host as many, and twenty are removed. */
function change(): SiteChange {
  changed = new Set();
  for (let i = 0; 20 * i < pages; i++) {
    const page = 20 * i + 10 + (i % hosts);
    if (page >= pages) break;
    versions[page] = versionOf(page) + 1;
    changed.add(page);
  }
  for (let i = 0; i < 20; i++) removed.add(pages - 1 - i * 3);
  for (const page of removed) changed.delete(page);
  let bytes = 0;
  for (const page of changed) bytes += bodies.bodyOf(page, versionOf(page), codingFor(hostOf(page), 'gzip, br')).length;
  return { changed: changed.size, removed: removed.size, bytes };
}

/** Whether the loopback interface has 127.0.0.2 and on; elsewhere the hosts differ by port. */
const wholeBlock =
  process.platform === 'linux' &&
  Object.values(networkInterfaces())
    .flat()
    .some((each) => each?.address === '127.0.0.1');
const served = Array.from({ length: hosts }, (_, host) => serve(answer, `127.0.0.${wholeBlock ? host + 1 : 1}`));
origins = (await Promise.all(served)).map(({ origin }) => origin);
process.stdout.write(`${JSON.stringify(origins)}\n`);
process.on('disconnect', () => process.exit(0));
