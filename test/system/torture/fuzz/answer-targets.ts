import { deepStrictEqual } from 'node:assert';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { CrawlError } from '../../../../src/core/domain/errors.ts';
import type { Exchange, FetchProtocol } from '../../../../src/core/ports/fetch-protocol.ts';
import { createWebhook } from '../../../../src/delivery/changes/webhook-delivery.ts';
import { createGotProtocol } from '../../../../src/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../../../src/transports/undici/undici-protocol.ts';
import { type FuzzTarget, holds } from './target.ts';

/** A server that answers each request with the same bytes, and then ends the connection. */
async function answeringServer(): Promise<{ readonly url: string; set(answer: Buffer): void; close(): void }> {
  let answer: Buffer = Buffer.alloc(0);
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    set: (next) => {
      answer = next;
    },
    close: () => server.close(),
  };
}

const MAX_BODY = 8 * 1024;
const TIMEOUT_MS = 5_000;

export async function answerTargets(): Promise<readonly FuzzTarget[]> {
  const server = await answeringServer();
  const settings = { userAgent: 'fuzz', allowAddresses: ['127.0.0.1'], maxHeaderBytes: 4_096 };
  const protocols: readonly FetchProtocol[] = [createGotProtocol(settings), await createUndiciProtocol(settings)];
  const ask = async (protocol: FetchProtocol): Promise<Exchange | CrawlError> => {
    try {
      return await protocol.exchange({
        url: server.url,
        method: 'GET',
        headers: {},
        onHead: () => 'read',
        maxBodyBytes: MAX_BODY,
        timeoutMs: TIMEOUT_MS,
      });
    } catch (error) {
      if (error instanceof CrawlError) return error;
      throw error;
    }
  };

  const http: FuzzTarget = {
    name: 'http',
    stepsPerByte: 100,
    isSlow: true,
    runs: 150,
    words: [
      ...[
        'HTTP/1.1 200 OK\r\n',
        'HTTP/1.0 404\r\n',
        'HTTP/1.1 100 Continue\r\n\r\n',
        'HTTP/1.1 101 x\r\nupgrade: x\r\n\r\n',
        '\r\n',
      ],
      ...[
        'content-length: 5\r\n',
        'content-length: -1\r\n',
        'transfer-encoding: chunked\r\n',
        '5\r\nhello\r\n',
        '0\r\n\r\n',
        'ffffffff\r\n',
      ],
      ...[
        'content-encoding: gzip\r\n',
        'content-encoding: br, br, br\r\n',
        'connection: close\r\n',
        '\x1f\x8b\x08\0',
        'x: y\r\n',
        '\n',
        '\0',
      ],
      ...[
        'location: /x\r\n',
        'set-cookie: a=b\r\n',
        'HTTP/1.1 304 Not Modified\r\n',
        '__proto__: x\r\n',
        ' folded\r\n',
        'x'.repeat(5_000),
      ],
    ],
    async check(input) {
      server.set(input);
      for (const protocol of protocols) {
        const answer = await ask(protocol);
        if (answer instanceof CrawlError) {
          holds(answer.consequence !== 'stop-crawl', 'no answer stops the crawl', answer.code, answer.message);
          holds(answer.code !== 'fetch-timeout', 'what has ended is not waited for', answer.message);
          continue;
        }
        const { head, body, wireBody, bodyBytes } = answer;
        holds(head.status >= 200 && head.status <= 999, 'a final status', head.status);
        holds((body?.length ?? 0) <= MAX_BODY && (wireBody?.length ?? 0) <= MAX_BODY, 'a bounded body', body?.length);
        holds(bodyBytes <= input.length, 'no more bytes than were sent', bodyBytes, input.length);
        for (const value of Object.values(head.headers)) holds(!/[\r\0]/.test(value), 'no line ends in a field', value);
      }
    },
    async close() {
      for (const protocol of protocols) await protocol.close();
    },
  };

  const webhook: FuzzTarget = {
    name: 'webhook',
    stepsPerByte: 60,
    isSlow: true,
    runs: 80,
    words: http.words,
    async check(input) {
      server.set(input);
      const hook = createWebhook({ url: server.url, timeoutMs: TIMEOUT_MS, userAgent: 'fuzz', secret: null });
      const message = { id: 'msg_1', at: Date.UTC(2026, 0, 1), body: '{}' };
      const delivery = await hook.deliver(message, new AbortController().signal);
      const status = /HTTP\/1\.[01] (\d{3})/.exec(input.toString('latin1'))?.[1];
      if (delivery.isTaken) holds(status !== undefined, 'only an answer takes a message', delivery);
      else {
        holds(!delivery.reason.startsWith('no answer within'), 'what has ended is not waited for', delivery.reason);
        holds(delivery.retryAfterMs === null || delivery.retryAfterMs >= 0, 'a pause is not negative', delivery);
      }
      deepStrictEqual(delivery.isTaken, delivery.status !== null && delivery.status >= 200 && delivery.status < 300);
    },
    async close() {
      server.close();
    },
  };
  return [http, webhook];
}
