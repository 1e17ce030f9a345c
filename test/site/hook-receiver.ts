import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** How the next requests are answered, in turn; afterwards with 204. `hang`: not at all. */
  readonly script: (number | 'hang' | { readonly status: number; readonly headers: Record<string, string> })[];
  /** Resolves when so many requests have come. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A receiver of webhooks on loopback whose answers a test sets. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const received: Received[] = [];
  const script: HookReceiver['script'][number][] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    received.push({ headers: request.headers, body });
    const answer = script.shift() ?? 204;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end('x'.repeat(100_000));
    waiting = waiting.filter(({ count, resolve }) => received.length < count || resolve());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret`,
    received,
    script,
    seen: (count) =>
      received.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
