import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request } from 'got';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import { type ConnectionPools, createConnectionPools } from '../guard/connection-pools.ts';
import type { ProxyServer } from '../guard/proxied-socket.ts';
import type { GotClient } from './got-client.ts';
import { IncomingResponse, networkFault, responseHead } from './incoming-response.ts';
import { awaitDescriptor, bareUrl, type HttpProtocolOptions, protocolSettings } from './protocol-options.ts';

interface Clients {
  readonly guarded: GotClient;
  /** For hosts that the operator named as exceptions to the address guard. */
  readonly named: GotClient;
}

/**
 * The `http:` and `https:` protocol on got. Time limits use the machine's timers, not the Clock port: sockets do not
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
  // Loaded with the first request: got takes a sixth of a command's start-up time, and most commands fetch nothing.
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

/** Attempts on kept connections that the server has closed while they were idle (RFC 9112 section 9.3.1). */
const MAX_STALE_CONNECTIONS = 3;

/**
 * One exchange through got, with time limits of its own: got never settles on some responses (an unsolicited 101),
 * whatever its limits. got's stream is used up to the head; the body is read from the response itself, which saves one
 * stream.
 */
class GotExchange {
  private readonly client: GotClient;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly incoming: IncomingResponse;
  private stream: Request | null = null;
  private native: ClientRequest | null = null;
  private response: IncomingMessage | null = null;
  /** Bytes received over a kept connection before this exchange. */
  private bytesBefore = 0;
  private stale = 0;

  constructor(client: GotClient, url: URL, request: ExchangeRequest, stallTimeoutMs: number) {
    this.client = client;
    this.url = url;
    this.request = request;
    this.incoming = new IncomingResponse(request, stallTimeoutMs, () => this.stream?.destroy());
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return this.incoming.receive(() => this.send());
  }

  private send(): void {
    const stream = this.client(this.url, this.request.method, this.request.headers);
    this.stream = stream;
    stream.once('request', (native: ClientRequest) => {
      this.native = native;
      native.once('socket', (socket) => {
        this.bytesBefore = socket.bytesRead;
        // The request is written by listeners for this event that Node adds later.
        if (socket.connecting) socket.prependOnceListener('connect', () => this.incoming.onSend());
        else this.incoming.onSend();
      });
      native.once('error', (error) => this.onError(stream, error));
    });
    stream.once('response', (response: IncomingMessage) => this.onResponse(response));
    stream.once('upgrade', (_response: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      this.incoming.fail(new CrawlError('protocol-error', 'the server switched protocols unasked'));
    });
    // The listener stays attached: got reports some faults more than once, and an error without a listener would end
    // the process.
    stream.on('error', (error) => this.onError(stream, error));
  }

  private onError(stream: Request, error: unknown): void {
    if (this.incoming.isSettled || stream !== this.stream) return;
    // The response is complete, and the server sent more than its length: the connection is unusable, the page is not.
    if (this.response?.complete) return;
    const fault = networkFault(error);
    if (fault.code === 'fetch-aborted' && this.isStale() && this.stale < MAX_STALE_CONNECTIONS) {
      this.stale++;
      stream.destroy();
      this.send();
    } else {
      this.incoming.onFault(fault);
    }
  }

  /** Whether this is a kept connection on which no byte of a response has arrived. */
  private isStale(): boolean {
    const { native } = this;
    if (this.incoming.head !== null || native?.reusedSocket !== true) return false;
    return (native.socket?.bytesRead ?? 0) === this.bytesBefore;
  }

  private onResponse(response: IncomingMessage): void {
    this.response = response;
    const plan = this.incoming.onHead(responseHead(response));
    if (plan === 'none') this.endWithout(response);
    else if (plan === 'read') this.read(response);
    else if (plan === 'drop') this.drop(response);
  }

  /** Reads the response to its end, so that the connection can serve the next request. */
  private endWithout(response: IncomingMessage): void {
    response.once('end', () => this.incoming.onNoBody(0));
    response.once('aborted', () => this.incoming.onNoBody(0));
    readAway(response);
  }

  private drop(response: IncomingMessage): void {
    // One turn later the parser has processed all that came with the head. If the body is complete by then, it is read
    // at no cost and its connection is kept. Otherwise the connection is closed, so that the server stops sending.
    process.nextTick(() => {
      if (this.incoming.isSettled) return;
      const droppedBytes = response.readableLength;
      if (response.complete) readAway(response);
      else this.stream?.destroy();
      this.incoming.onNoBody(droppedBytes);
    });
  }

  private read(response: IncomingMessage): void {
    response.on('readable', () => {
      this.incoming.onProgress();
      let chunk: Buffer | null = response.read();
      while (chunk !== null) {
        this.incoming.onChunk(chunk);
        if (this.incoming.isSettled) return;
        chunk = response.read();
      }
    });
    response.once('end', () => this.incoming.onEnd());
    response.once('aborted', () => this.incoming.onPrematureEnd(null));
  }
}

/** Drains the body. `resume` does nothing while got listens for "readable". */
function readAway(response: IncomingMessage): void {
  response.on('readable', () => {
    while (response.read() !== null);
  });
}
