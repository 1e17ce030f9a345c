import { CrawlError } from '../../../domain/errors.ts';
import type { ExchangeRequest, FetchProtocol } from '../../../ports/fetch-protocol.ts';
import { type AddressGuard, createAddressGuard } from '../guard/address-guard.ts';
import { createSocketMaker, type SocketMaker } from '../guard/guarded-socket.ts';
import { awaitDescriptor } from './await-descriptor.ts';
import { bareUrl } from './bare-url.ts';
import { type HttpProtocolOptions, type HttpProtocolSettings, protocolSettings } from './protocol-options.ts';
import { loadUndici } from './undici.ts';
import { UndiciConnections } from './undici-connections.ts';
import { UndiciExchange } from './undici-exchange.ts';

/**
 * The `http:` and `https:` protocol on undici: the same as the one on got, for a third to a half of the CPU time a
 * request. Time limits use timers of the machine here too.
 *
 * Rejects with `CrawlError('config-invalid')` for an invalid entry of `allowAddresses`.
 */
export async function createUndiciProtocol(options: HttpProtocolOptions): Promise<FetchProtocol> {
  const settings = protocolSettings(options);
  const guard = createAddressGuard(settings.allowAddresses);
  const connections = new UndiciConnections({
    ...settings,
    guard,
    undici: await loadUndici(),
    makeSocket: await socketMaker(settings, guard),
  });
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = guard.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      const send = (asked: ExchangeRequest) => new UndiciExchange(connections, url, asked, settings).run();
      return awaitDescriptor(request, send, () => connections.closeAllIdle());
    },
    async close() {
      connections.closeAllIdle();
    },
  };
}

async function socketMaker(settings: HttpProtocolSettings, guard: AddressGuard): Promise<SocketMaker> {
  const { proxy, connectTimeoutMs, attemptTimeoutMs, tls } = settings;
  if (proxy === undefined) return createSocketMaker(guard, connectTimeoutMs, attemptTimeoutMs, tls);
  const { createProxiedSocketMaker } = await import('../guard/proxied-socket.ts');
  return createProxiedSocketMaker(proxy, guard, connectTimeoutMs, tls);
}
