import { CrawlError } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import {
  awaitDescriptor,
  bareUrl,
  type HttpProtocolOptions,
  type HttpProtocolSettings,
  protocolSettings,
} from '../../http/exchange/protocol-options.ts';
import { type AddressGuard, createAddressGuard } from '../../http/guard/address-guard.ts';
import { type Alpn, createSocketMaker, HTTP1, type SocketMaker } from '../../http/guard/guarded-socket.ts';
import type { Http2Connections } from '../http2/http2-connections.ts';
import { loadUndici, UndiciConnections } from './undici-connections.ts';
import { UndiciExchange } from './undici-exchange.ts';

/**
 * The `http:` and `https:` protocol on undici: the same as the one on got, for a third to a half of the CPU time per
 * request. With `http2`, `node:http2` is used for servers that support HTTP/2. Time limits use timers of the machine
 * here too.
 *
 * Rejects with `CrawlError('config-invalid')` for an invalid entry of `allowAddresses`.
 */
export async function createUndiciProtocol(options: HttpProtocolOptions): Promise<FetchProtocol> {
  const settings = protocolSettings(options);
  const guard = createAddressGuard(settings.allowAddresses);
  const makeSocket = await socketMaker(settings, guard, HTTP1);
  const http2 = options.http2 === true ? await openHttp2(settings, guard) : null;
  const connections = new UndiciConnections({
    ...settings,
    guard,
    undici: await loadUndici(),
    makeSocket: http2 === null ? makeSocket : partlyMade(http2.connections, makeSocket),
  });
  const closeAllIdle = (): void => {
    connections.closeAllIdle();
    http2?.connections.closeAllIdle();
  };
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = guard.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      const byHttp1 = (asked: ExchangeRequest): Promise<Exchange> =>
        new UndiciExchange(connections, url, asked, settings).run();
      const hasHttp2 = http2 !== null && url.protocol === 'https:' && !http2.connections.isHttp1(url);
      const send = hasHttp2 ? (asked: ExchangeRequest) => http2.send(url, asked, byHttp1) : byHttp1;
      return awaitDescriptor(request, send, closeAllIdle);
    },
    async close() {
      closeAllIdle();
    },
  };
}

interface Http2 {
  readonly connections: Http2Connections;
  send(url: URL, request: ExchangeRequest, byHttp1: (request: ExchangeRequest) => Promise<Exchange>): Promise<Exchange>;
}

/** Loaded on demand. */
async function openHttp2(settings: HttpProtocolSettings, guard: AddressGuard): Promise<Http2> {
  const { Http2Connections } = await import('../http2/http2-connections.ts');
  const { Http2Exchange } = await import('../http2/http2-exchange.ts');
  const makeSocket = await socketMaker(settings, guard, ['h2', 'http/1.1']);
  const connections = new Http2Connections({ ...settings, guard, makeSocket });
  return {
    connections,
    send: (url, request, byHttp1) => new Http2Exchange({ connections, settings, byHttp1 }, url, request).run(),
  };
}

/** Sockets whose handshake ended in HTTP/1.1 are used before new ones are made. */
function partlyMade(connections: Http2Connections, makeSocket: SocketMaker): SocketMaker {
  return (target, done) => {
    const made = target.isSecure ? connections.takeHttp1(target) : null;
    if (made === null) return makeSocket(target, done);
    queueMicrotask(() => done(null, made));
    return made;
  };
}

async function socketMaker(settings: HttpProtocolSettings, guard: AddressGuard, alpn: Alpn): Promise<SocketMaker> {
  const { proxy, connectTimeoutMs, attemptTimeoutMs, tls } = settings;
  if (proxy === undefined) return createSocketMaker(guard, connectTimeoutMs, attemptTimeoutMs, tls, alpn);
  const { createProxiedSocketMaker } = await import('../../http/guard/proxied-socket.ts');
  return createProxiedSocketMaker(proxy, guard, connectTimeoutMs, tls, alpn);
}
