import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to a request: `503` and `429` are answers, `reset` breaks it before the server has it, `torn` after half
 * of its body, `lost` loses the answer to a request that was carried out, `silent` leaves it without an answer, `slow`
 * delays it.
 */
export type Fault = '503' | '429' | 'reset' | 'torn' | 'lost' | 'silent' | 'slow';

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly range: string | null;
  readonly authorization: string;
  /** What the server answered; `null`: nothing. */
  status: number | null;
  bytesUp: number;
  bytesDown: number;
}

export interface FaultyS3 {
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  /** Asked for each request in turn; `null`: it is passed on. */
  fault: (request: SeenRequest) => Fault | null;
  stop(): Promise<void>;
}

/** Stands before an S3 server, and counts and breaks requests. */
export async function startFaultyS3(upstream: string): Promise<FaultyS3> {
  const { hostname, port } = new URL(upstream);
  const server = createServer((asked, answer) => {
    const { method = '', url: path = '', headers } = asked;
    const [range = null, authorization = ''] = [headers.range, headers.authorization];
    const entry: SeenRequest = { method, path, range, authorization, status: null, bytesUp: 0, bytesDown: 0 };
    proxy.seen.push(entry);
    const fault = proxy.fault(entry);
    // The signature holds the name by which the client asked.
    const forward = (): ClientRequest => request({ hostname, port, method, path, headers });
    handle(fault, asked, answer, entry, forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyS3 = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    fault: () => null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

function handle(
  fault: Fault | null,
  asked: IncomingMessage,
  answer: ServerResponse,
  entry: SeenRequest,
  forward: () => ClientRequest,
): void {
  asked.on('error', () => {});
  if (fault === 'reset') {
    asked.socket.resetAndDestroy();
    return;
  }
  if (fault === 'silent') {
    asked.resume();
    return;
  }
  if (fault === '503' || fault === '429') {
    asked.resume().once('end', () => {
      answer.writeHead(Number(fault), { 'content-type': 'application/xml' });
      answer.end(
        '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>',
      );
    });
    return;
  }
  const pass = (): void => {
    const passed = forward();
    passed.on('error', () => asked.socket.destroy());
    passed.once('response', (response) => {
      entry.status = response.statusCode ?? null;
      if (fault === 'lost') {
        response.resume().once('end', () => asked.socket.destroy());
        return;
      }
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.on('data', (chunk: Buffer) => {
        entry.bytesDown += chunk.length;
      });
      response.pipe(answer);
    });
    const half = Number(asked.headers['content-length'] ?? 0) / 2;
    asked.on('data', (chunk: Buffer) => {
      if (passed.destroyed) return;
      entry.bytesUp += chunk.length;
      passed.write(chunk);
      if (fault === 'torn' && entry.bytesUp >= half) {
        passed.destroy();
        asked.socket.destroy();
      }
    });
    asked.on('end', () => passed.end());
    asked.on('close', () => {
      if (!asked.complete) passed.destroy();
    });
  };
  if (fault === 'slow') setTimeout(pass, 150);
  else pass();
}
