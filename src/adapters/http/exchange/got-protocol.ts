import { CrawlError } from '../../../domain/errors.ts';
import type { FetchProtocol } from '../../../ports/fetch-protocol.ts';
import { createConnectionPools } from '../guard/connection-pools.ts';
import { bareUrl } from './bare-url.ts';
import type { GotClient } from './got-client.ts';
import { GotExchange } from './got-exchange.ts';
import { type HttpProtocolOptions, protocolSettings } from './protocol-options.ts';

interface Clients {
  readonly guarded: GotClient;
  /** For hosts that the address guard has been told of by name. */
  readonly named: GotClient;
}

/**
 * The `http:` and `https:` protocol on got. Every time limit is a real one (timers of the machine, not of the Clock
 * port): sockets do not live in simulated time.
 *
 * Throws `CrawlError('config-invalid')` for an entry of `allowAddresses` that cannot be read.
 */
export function createGotProtocol(options: HttpProtocolOptions): FetchProtocol {
  const settings = protocolSettings(options);
  const pools = createConnectionPools(settings);
  let clients: Clients | null = null;
  // With the first request: got takes a sixth of the start of a command, and most commands fetch nothing.
  const load = async (): Promise<Clients> => {
    const { createGotClient } = await import('./got-client.ts');
    clients ??= { guarded: createGotClient(settings, pools.guarded), named: createGotClient(settings, pools.named) };
    return clients;
  };
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = pools.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      const { named, guarded } = clients ?? (await load());
      return new GotExchange(pools.isNamed(url) ? named : guarded, url, request, settings.stallTimeoutMs).run();
    },
    async close() {
      pools.closeIdle();
    },
  };
}
