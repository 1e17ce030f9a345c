import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `null` breaks the connection. */
export type ScriptedAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
} | null;

/** A server that answers as a function says, and remembers what it was asked. */
export async function startScripted(
  answer: (request: ReceivedRequest, number: number) => ScriptedAnswer,
  address = '127.0.0.1',
): Promise<{ readonly origin: string; readonly received: readonly ReceivedRequest[]; close(): Promise<void> }> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body };
    received.push(request);
    const reported = answer(request, received.length);
    if (reported === null) incoming.socket.destroy();
    else response.writeHead(reported.status, reported.headers).end(reported.body);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return {
    origin: `http://${address}:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
