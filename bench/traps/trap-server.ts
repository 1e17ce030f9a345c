import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { htmlOf, type TrapPage } from './trap-pages.ts';

export interface TrapServer {
  readonly origin: string;
  /** Requests for pages so far, by the first directory; the start page under an empty name. */
  readonly requests: ReadonlyMap<string, number>;
  /** Paths of the pages that were answered. */
  readonly answered: ReadonlySet<string>;
  close(): void;
}

/** Serves made-up pages on loopback; there is no robots.txt and no sitemap. */
export async function startTrapServer(page: (path: string) => TrapPage | null): Promise<TrapServer> {
  const requests = new Map<string, number>();
  const answered = new Set<string>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const found = page(path);
    if (found === null) {
      response.writeHead(404).end();
      return;
    }
    const [, first = ''] = path.split('/');
    requests.set(first, (requests.get(first) ?? 0) + 1);
    answered.add(path);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(htmlOf(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answered,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
