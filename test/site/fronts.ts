import { Agent, request as ask, type IncomingMessage } from 'node:http';
import {
  createSecureServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type HostileServer, startHostileServer } from './hostile-server.ts';
import { unknownIdentity } from './tls-identity.ts';

/** A server of TLS alone before one of HTTP/1.1, as stunnel is: it passes on bytes, and knows nothing of HTTP/2. */
export async function startTlsFront(to: number): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTlsServer(unknownIdentity, (client) => {
    const inner = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [client, inner],
      [inner, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  return { port: await listening(server), close: () => closed(server, sockets) };
}

/** The hostile server behind a front of TLS. */
export const startHostileTls = async (): Promise<HostileServer> => {
  const inner = await startHostileServer();
  const front = await startTlsFront(inner.port);
  return behind(inner, front.port, () => inner.connections, front.close);
};

/** The hostile server behind a gateway that speaks HTTP/2, as the servers of sites are. */
export const startHostileHttp2 = async (): Promise<HostileServer> => {
  const inner = await startHostileServer();
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  const server = createSecureServer(unknownIdentity);
  server.on('session', (session) => {
    connections++;
    sessions.add(session);
    const agent = new Agent({ keepAlive: true });
    session.on('error', () => {});
    session.on('close', () => {
      sessions.delete(session);
      agent.destroy();
    });
    session.on('stream', (stream, headers) => passOn(stream, headers, inner.port, agent));
  });
  const port = await listening(server);
  return behind(
    inner,
    port,
    () => connections,
    () => {
      for (const session of sessions) session.destroy();
      return closed(server, []);
    },
  );
};

/** Fields of a connection of HTTP/1.1. */
const OF_CONNECTION = /^(?:connection|keep-alive|transfer-encoding|upgrade|proxy-connection)$/i;

function passOn(
  stream: ServerHttp2Stream,
  { ':method': method, ':path': path, ':authority': host, ...fields }: OutgoingHttpHeaders,
  port: number,
  agent: Agent,
): void {
  const names = Object.entries(fields).filter(([name]) => !name.startsWith(':'));
  const headers = { ...Object.fromEntries(names), host: String(host) };
  const inner = ask({
    port,
    host: '127.0.0.1',
    method: String(method),
    path: String(path),
    headers,
    agent,
    maxHeaderSize: 1_000_000,
  });
  // Not `close`, which would end the stream in order.
  const reset = (): void => void stream.destroy(new Error('the inner server failed'));
  stream.on('error', () => {});
  stream.on('close', () => inner.destroy());
  inner.on('error', reset);
  inner.on('information', ({ statusCode }: { statusCode: number }) => {
    if (!stream.headersSent && !stream.destroyed) stream.additionalHeaders({ ':status': statusCode });
  });
  inner.on('response', (response: IncomingMessage) => {
    if (stream.destroyed) return;
    stream.respond(fieldsOf(response), { endStream: method === 'HEAD' || response.statusCode === 304 });
    response.on('error', reset);
    response.on('aborted', reset);
    if (method !== 'HEAD' && response.statusCode !== 304) response.pipe(stream);
  });
  inner.end();
}

function fieldsOf({ statusCode, rawHeaders }: IncomingMessage): OutgoingHttpHeaders {
  const fields: Record<string, string[]> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!OF_CONNECTION.test(name)) fields[name] = [...(fields[name] ?? []), rawHeaders[i + 1] as string];
  }
  const single = Object.entries(fields).map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return { ':status': statusCode, ...Object.fromEntries(single) };
}

function behind(
  inner: HostileServer,
  port: number,
  connections: () => number,
  close: () => Promise<void>,
): HostileServer {
  return {
    origin: `https://127.0.0.1:${port}`,
    port,
    seen: inner.seen,
    get connections() {
      return connections();
    },
    get maxRunning() {
      return inner.maxRunning;
    },
    account: inner.account,
    async close() {
      await close();
      await inner.close();
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function closed(server: Server, sockets: Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
