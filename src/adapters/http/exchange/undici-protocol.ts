import { CrawlError } from '../../../domain/errors.ts';
import type { FetchProtocol } from '../../../ports/fetch-protocol.ts';
import { createAddressGuard } from '../guard/address-guard.ts';
import { createSocketMaker } from '../guard/guarded-socket.ts';
import { bareUrl } from './bare-url.ts';
import { type HttpProtocolOptions, protocolSettings } from './protocol-options.ts';
import { loadUndici } from './undici.ts';
import { UndiciConnections } from './undici-connections.ts';
import { UndiciExchange } from './undici-exchange.ts';

/**
 * The `http:` and `https:` protocol on undici: what the one on got does, for a third to a half of the CPU time a
 * request. Time limits are real ones here too.
 *
 * Rejects with `CrawlError('config-invalid')` for an entry of `allowAddresses` that cannot be read.
 */
export async function createUndiciProtocol(options: HttpProtocolOptions): Promise<FetchProtocol> {
  const settings = protocolSettings(options);
  const guard = createAddressGuard(settings.allowAddresses);
  const connections = new UndiciConnections({
    ...settings,
    guard,
    client: await loadUndici(),
    makeSocket: createSocketMaker(guard, settings.connectTimeoutMs, settings.attemptTimeoutMs),
  });
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = guard.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      return new UndiciExchange(connections, url, request, settings).run();
    },
    async close() {
      connections.closeAllIdle();
    },
  };
}
