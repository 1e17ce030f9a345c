import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DemoSite } from './site.ts';

export interface DemoServer {
  /** `http://127.0.0.1:PORT`, one for each host. */
  readonly origins: readonly string[];
  /** Total body bytes of all current pages. */
  bytesOfAll(): number;
  close(): Promise<void>;
}

/** Serves the hosts of the demo site on loopback, at the time of the simulated clock. */
export async function startDemoServer(options: {
  hosts: number;
  seed: number;
  now: () => number;
}): Promise<DemoServer> {
  const startedAt = options.now();
  const sites = Array.from(
    { length: options.hosts },
    (_, host) => new DemoSite(options.seed * 31 + host + 1, startedAt),
  );
  const servers = await Promise.all(sites.map((site) => listen(site, options.now)));
  return {
    origins: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    bytesOfAll: () => sites.reduce((sum, site) => sum + site.bytesOfAll(options.now()), 0),
    close: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listen(site: DemoSite, now: () => number): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { status, headers, body } = site.answer(request.url ?? '/', request.headers, now());
    response.writeHead(status, headers);
    response.end(request.method === 'HEAD' ? '' : body);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
