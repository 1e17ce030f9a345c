import { CrawlError } from '../../core/domain/errors.ts';
import type { ExchangeRequest, FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import { type ConnectionPools, createConnectionPools } from '../guard/connection-pools.ts';
import type { ProxyServer } from '../guard/proxied-socket.ts';
import { bareUrl } from './bare-url.ts';
import type { GotClient } from './got-client.ts';
import { GotExchange } from './got-exchange.ts';
import { awaitDescriptor, type HttpProtocolOptions, protocolSettings } from './protocol-options.ts';

interface Clients {
  readonly guarded: GotClient;
  /** For hosts that the operator named as exceptions of the address guard. */
  readonly named: GotClient;
}

/**
 * The `http:` and `https:` protocol on got. Time limits use timers of the machine, not the Clock port: sockets do not
 * live in simulated time.
 *
 * Throws `CrawlError('config-invalid')` for an invalid entry of `allowAddresses`.
 */
export function createGotProtocol(options: HttpProtocolOptions): FetchProtocol {
  const settings = protocolSettings(options);
  const pools = createConnectionPools(settings);
  let clients: Clients | null = null;
  const proxiedPools = async (proxy: ProxyServer): Promise<Pick<ConnectionPools, 'guarded' | 'named'>> => {
    const { createProxiedSocketMaker } = await import('../guard/proxied-socket.ts');
    return pools.through((guard) => createProxiedSocketMaker(proxy, guard, settings.connectTimeoutMs, settings.tls));
  };
  // Loaded with the first request: got takes a sixth of the start-up of a command, and most commands fetch nothing.
  const load = async (): Promise<Clients> => {
    const { createGotClient } = await import('./got-client.ts');
    const { guarded, named } = settings.proxy === undefined ? pools : await proxiedPools(settings.proxy);
    clients ??= { guarded: createGotClient(settings, guarded), named: createGotClient(settings, named) };
    return clients;
  };
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = pools.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      const { named, guarded } = clients ?? (await load());
      const client = pools.isNamed(url) ? named : guarded;
      const send = (asked: ExchangeRequest) => new GotExchange(client, url, asked, settings.stallTimeoutMs).run();
      return awaitDescriptor(request, send, pools.closeIdle);
    },
    async close() {
      pools.closeIdle();
    },
  };
}
