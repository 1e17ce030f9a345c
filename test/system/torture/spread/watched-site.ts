import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asked } from '../../cli/cluster/watched-hosts.ts';

/** One request for a page, by the clock of the site. */
export interface WatchedSite {
  /** The first page of each host. */
  readonly seeds: readonly string[];
  /** URLs that a crawl of the seeds knows at its end. */
  readonly urls: number;
  /** Requests for pages since the last `forget`. */
  readonly asked: readonly Asked[];
  /** Requests that came while another one to the same host was being answered. */
  readonly overlaps: readonly string[];
  /** Resolves when so many pages have been asked for. */
  seen(count: number): Promise<void>;
  forget(): void;
  close(): Promise<void>;
}

const PAGES = 6;
const ANSWER_MS = 20;
const WORDS = 60;

/**
 * Hosts on addresses of the loopback block, which note who asks for what when. The first page leads to the others of
 * its host, to one that is gone and to one that has moved to another host; each of the others leads to the next host.
 */
export async function startWatchedSite(hosts: number): Promise<WatchedSite> {
  const asked: Asked[] = [];
  const overlaps: string[] = [];
  const busy = new Map<string, number>();
  let waiting: { count: number; resolve: () => void }[] = [];
  let port = 0;
  const hostOf = (i: number): string => `127.1.${(i % hosts) >> 8}.${(i % hosts) & 255}:${port}`;
  const server = createServer((request, response) => {
    const { url: path = '/' } = request;
    const { host = '' } = request.headers;
    if (path === '/robots.txt') return void response.writeHead(404).end();
    const entry: Asked = { host, path, startAt: performance.now(), endAt: null };
    asked.push(entry);
    waiting = waiting.filter((each) => asked.length < each.count || each.resolve());
    const before = busy.get(host) ?? 0;
    busy.set(host, before + 1);
    if (before > 0) overlaps.push(`${host}${path}`);
    response.on('close', () => busy.set(host, (busy.get(host) ?? 1) - 1));
    setTimeout(() => {
      if (!response.destroyed) entry.endAt = performance.now();
      answer(request, response, hostOf(numberOf(host) + 1));
    }, ANSWER_MS);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  return {
    seeds: Array.from({ length: hosts }, (_, i) => `http://${hostOf(i)}/`),
    // Of each host its first page and its others, what the host before leads to, and what is gone or has moved.
    urls: hosts * (1 + PAGES + PAGES + 1 + 2),
    asked,
    overlaps,
    seen: (count) =>
      asked.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    forget() {
      asked.length = 0;
      overlaps.length = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function numberOf(host: string): number {
  const [, , third = '0', last = '0'] = host.split(/[.:]/);
  return 256 * Number(third) + Number(last);
}

function answer({ url: path = '/', headers: { host } }: IncomingMessage, response: ServerResponse, next: string): void {
  if (path === '/moved') return void response.writeHead(302, { location: `http://${next}/deep/moved` }).end();
  const own = Array.from({ length: PAGES }, (_, i) => `/page/${i + 1}`);
  const links =
    path === '/' ? [...own, '/gone', '/moved'] : path.startsWith('/page/') ? [`http://${next}/deep${path}`] : [];
  // A row of its own for each page, so that none is like another.
  let state = [...`${host}${path}`].reduce((sum, char) => (Math.imul(sum, 31) + char.charCodeAt(0)) | 0, 7);
  const words = Array.from({ length: WORDS }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return `word${(state >>> 8) % 4_999}`;
  });
  const body = `<p>${words.join(' ')}</p>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}`;
  response.writeHead(path === '/gone' ? 404 : 200, { 'content-type': 'text/html' });
  response.end(`<html lang="en"><title>${host}${path}</title>${body}</html>`);
}
