import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request for a page. */
export interface Asked {
  readonly host: string;
  readonly path: string;
  readonly startAt: number;
  /** When the answer was given; `null`: the client disconnected before. */
  endAt: number | null;
}

export interface WatchedHosts {
  /** `http://127.0.0.1:PORT` of each. */
  readonly origins: readonly string[];
  readonly asked: readonly Asked[];
  /** Requests that came while another one to the same host was being answered. */
  readonly overlaps: readonly string[];
  /** Resolves when so many pages have been asked for. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

const PAGES = 6;

/** Hosts of a few pages each, which link to each other, answer slowly, and note who asks them when. */
export async function startHosts(count: number, answerAfterMs: number): Promise<WatchedHosts> {
  const servers: Server[] = [];
  const origins: string[] = [];
  const asked: Asked[] = [];
  const overlaps: string[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  for (let i = 0; i < count; i++) {
    let busy = 0;
    const server = createServer((request, response) => {
      const path = request.url ?? '/';
      if (path === '/robots.txt') return void response.writeHead(404).end();
      const host = origins[i] as string;
      const entry: Asked = { host, path, startAt: performance.now(), endAt: null };
      asked.push(entry);
      waiting = waiting.filter((each) => asked.length < each.count || each.resolve());
      if (busy++ > 0) overlaps.push(`${host}${path}`);
      response.on('close', () => busy--);
      setTimeout(() => {
        if (!response.destroyed) entry.endAt = performance.now();
        response.setHeader('content-type', 'text/html');
        if (path === '/gone') response.statusCode = 404;
        response.end(pageOf(path, host, origins));
      }, answerAfterMs);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return {
    origins,
    asked,
    overlaps,
    seen: (wanted) =>
      asked.length >= wanted ? Promise.resolve() : new Promise((resolve) => waiting.push({ count: wanted, resolve })),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

/** The first page of a host leads to its others, and each of those to the next host. */
function pageOf(path: string, host: string, origins: readonly string[]): string {
  const own = Array.from({ length: PAGES }, (_, i) => `/page/${i + 1}`);
  const next = origins[(origins.indexOf(host) + 1) % origins.length] as string;
  const links = path === '/' ? [...own, '/gone'] : [`${next}/deep${path}`].filter(() => !path.startsWith('/deep'));
  const text = Array.from({ length: 40 }, (_, i) => `word${(i * host.length * (path.length + 7)) % 83}`).join(' ');
  return `<html lang="en"><title>${host}${path}</title><p>${text}</p>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</html>`;
}

/** The least time between the end of an answer and the next request to the same host, ms. */
export function shortestPause(asked: readonly Asked[]): number {
  let least = Number.POSITIVE_INFINITY;
  const last = new Map<string, Asked>();
  for (const entry of asked) {
    const before = last.get(entry.host);
    if (before !== undefined) least = Math.min(least, entry.startAt - (before.endAt ?? before.startAt));
    last.set(entry.host, entry);
  }
  return least;
}
