import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashOf, randomOf } from '../random.ts';

export interface ManyHosts {
  readonly seeds: readonly string[];
  /** Requests for pages so far. */
  requests(): number;
  close(): Promise<void>;
}

const PAGES = 3;
const WORDS = 150;
/** Share of the visits that find another text. */
const CHANGES = 0.3;

/** Addresses of the loopback block, each a host of its own, behind one server; each page changes all the time. */
export async function startManyHosts(hosts: number, seed: number): Promise<ManyHosts> {
  const next = randomOf(seed);
  const versions = new Map<string, number>();
  let requests = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return void response.writeHead(200).end('User-agent: *\nDisallow: /private/\n');
    requests++;
    const page = `${request.headers.host}${path}`;
    const isNew = next() < CHANGES;
    if (isNew || !versions.has(page)) versions.set(page, (versions.get(page) ?? 0) + 1);
    const version = versions.get(page) as number;
    const etag = `"${version}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    // Of a few requests each there are hosts that are slow, fail, or break off.
    const fate = next();
    if (fate < 0.005) return void response.socket?.destroy();
    if (fate < 0.01) return void response.writeHead(500).end('broken');
    const body = html(page, version);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag });
    if (fate < 0.015) response.write(body.slice(0, 300), () => response.socket?.destroy());
    else response.end(body);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    seeds: Array.from({ length: hosts }, (_, i) => `http://127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}:${port}/`),
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function html(page: string, version: number): string {
  const next = randomOf(hashOf(page) + Math.floor(version / 2));
  const words = Array.from({ length: WORDS }, () => `word${Math.floor(next() * 5_000)}`).join(' ');
  const links = Array.from({ length: PAGES }, (_, i) => `<a href="/page/${i}">page ${i}</a>`).join(' ');
  return `<!doctype html><title>${page} ${version}</title><h1>${page}</h1><p>${words}</p><p>${links}</p>`;
}
