import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ROUTES } from './routes.ts';

/** Counts of one path. */
export interface PathAccount {
  requests: number;
  /** Bytes written, heads included. */
  bytesSent: number;
  running: number;
  maxRunning: number;
}

export interface SeenRequest {
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Number of the connection, counted from 1. */
  readonly connection: number;
  readonly at: number;
}

export interface HostileServer {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  /** Connections made so far. */
  readonly connections: number;
  /** By path without query; zeros for one never asked for. */
  account(path: string): Readonly<PathAccount>;
  /** Most requests under way at a time, over all paths. */
  readonly maxRunning: number;
  close(): Promise<void>;
}

/**
 * A server on 127.0.0.1 that behaves as servers should not: {@link ROUTES} lists its paths. Unknown paths are answered
 * by 404. Everything it leaves open ends with `close`.
 */
export async function startHostileServer(): Promise<HostileServer> {
  const seen: SeenRequest[] = [];
  const accounts = new Map<string, PathAccount>();
  const sockets = new Map<Socket, number>();
  let connections = 0;
  let running = 0;
  let maxRunning = 0;
  const accountOf = (path: string): PathAccount => {
    const account = accounts.get(path) ?? { requests: 0, bytesSent: 0, running: 0, maxRunning: 0 };
    accounts.set(path, account);
    return account;
  };
  const server: Server = createServer((request, response) => {
    const { socket } = request;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const account = accountOf(url.pathname);
    const connection = sockets.get(socket) ?? 0;
    const nthOfConnection = seen.filter((each) => each.connection === connection).length + 1;
    seen.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      connection,
      at: Date.now(),
    });
    account.requests++;
    account.maxRunning = Math.max(account.maxRunning, ++account.running);
    maxRunning = Math.max(maxRunning, ++running);
    const sentBefore = socket.bytesWritten;
    response.once('close', () => {
      account.running--;
      running--;
      account.bytesSent += socket.bytesWritten - sentBefore;
    });
    const route = ROUTES[url.pathname];
    if (route !== undefined) {
      route({ request, response, socket, url, origin: originOf(server), nthOfConnection });
      return;
    }
    response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here\n');
  });
  server.on('connection', (socket) => {
    sockets.set(socket, ++connections);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: originOf(server),
    port: (server.address() as AddressInfo).port,
    seen,
    get connections() {
      return connections;
    },
    get maxRunning() {
      return maxRunning;
    },
    account: accountOf,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        for (const socket of sockets.keys()) socket.destroy();
      }),
  };
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
