import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request } from 'got';
import { CrawlError } from '../../domain/errors.ts';
import type { Exchange, ExchangeRequest, ResponseHead } from '../../ports/fetch-protocol.ts';
import { contentCodings, decodeBody, owned } from './content-coding.ts';
import type { GotClient } from './got-client.ts';
import { networkFault } from './network-fault.ts';
import { hasNoBody, headBytes, responseHead } from './response-head.ts';

/** A kept connection that the server closed while it lay idle is replaced this often (RFC 9112 section 9.3.1). */
const MAX_STALE_CONNECTIONS = 3;

/**
 * One exchange through got, under a deadline of its own: got never settles on some answers (an unasked 101), whatever its
 * limits. got's stream is used up to the head; the body is read from the response itself, which spares a stream in between.
 */
export class GotExchange {
  private readonly client: GotClient;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly stallTimeoutMs: number;
  private readonly startedAt = performance.now();
  private readonly deadlineAt: number;
  private stream: Request | null = null;
  private native: ClientRequest | null = null;
  private head: ResponseHead | null = null;
  private stale = 0;
  private chunks: Buffer[] = [];
  private wireBytes = 0;
  private stalledAt = Number.POSITIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private isSettled = false;
  private resolve: (exchange: Exchange) => void = () => {};
  private reject: (error: unknown) => void = () => {};

  constructor(client: GotClient, url: URL, request: ExchangeRequest, stallTimeoutMs: number) {
    this.client = client;
    this.url = url;
    this.request = request;
    this.stallTimeoutMs = stallTimeoutMs;
    this.deadlineAt = this.startedAt + request.timeoutMs;
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      const { signal } = this.request;
      if (signal?.aborted) return this.onAbort();
      signal?.addEventListener('abort', this.onAbort, { once: true });
      this.armTimer();
      this.send();
    });
  }

  private send(): void {
    const stream = this.client(this.url, this.request.method, this.request.headers);
    this.stream = stream;
    stream.once('request', (native: ClientRequest) => {
      this.native = native;
      native.once('error', (error) => this.onError(stream, error));
    });
    stream.once('response', (response: IncomingMessage) => this.onResponse(response));
    stream.once('upgrade', (_response: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      this.fail(new CrawlError('protocol-error', 'the server changed to another protocol without being asked'));
    });
    // Stays attached: got reports some faults more than once, and an error without a listener would end the process.
    stream.on('error', (error) => this.onError(stream, error));
  }

  private onError(stream: Request, error: unknown): void {
    if (this.isSettled || stream !== this.stream) return;
    const fault = networkFault(error);
    if (this.head !== null) {
      if (fault.code === 'fetch-aborted') this.onPrematureEnd(fault);
      else this.fail(fault);
    } else if (fault.code === 'fetch-aborted' && this.native?.reusedSocket && this.stale < MAX_STALE_CONNECTIONS) {
      this.stale++;
      stream.destroy();
      this.send();
    } else {
      this.fail(fault);
    }
  }

  private onResponse(response: IncomingMessage): void {
    if (this.isSettled) return;
    let decision: 'read' | 'drop';
    let head: ResponseHead;
    try {
      head = responseHead(response);
      this.head = head;
      if (head.status < 200) throw new CrawlError('protocol-error', `status ${head.status} is no final answer`);
      const isOk = head.status >= 200 && head.status <= 299;
      decision = this.request.onHead?.(head) ?? (isOk ? 'read' : 'drop');
      if (decision === 'read') contentCodings(head.headers['content-encoding']);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (hasNoBody(this.request.method, head.status)) this.endWithout(response);
    else if (decision === 'read') this.read(response);
    else this.drop(response);
  }

  /** Read to its end, which comes at once, so that the connection can serve the next request. */
  private endWithout(response: IncomingMessage): void {
    response.once('end', () => this.succeed(null, null, false));
    response.once('aborted', () => this.succeed(null, null, false));
    response.resume();
  }

  private drop(response: IncomingMessage): void {
    // One turn later the parser has been through all that came with the head: a body that is whole already costs nothing
    // more to read, and its connection is kept. Any other is closed, so that the server stops sending.
    process.nextTick(() => {
      if (this.isSettled) return;
      this.wireBytes = response.readableLength;
      if (response.complete) {
        response.on('readable', () => {
          while (response.read() !== null);
        });
      } else {
        this.stream?.destroy();
      }
      this.succeed(null, null, false);
    });
  }

  private read(response: IncomingMessage): void {
    this.onProgress();
    const limit = this.request.maxBodyBytes;
    response.on('readable', () => {
      this.onProgress();
      let chunk: Buffer | null = response.read();
      while (chunk !== null) {
        this.chunks.push(chunk);
        this.wireBytes += chunk.length;
        if (this.wireBytes > limit) {
          this.stream?.destroy();
          void this.deliver(true);
          return;
        }
        chunk = response.read();
      }
    });
    response.once('end', () => void this.deliver(false));
    response.once('aborted', () => this.onPrematureEnd(null));
  }

  /** What came of a body that broke off is worth more than nothing; nothing is a failure. */
  private onPrematureEnd(fault: CrawlError | null): void {
    if (this.isSettled) return;
    this.stream?.destroy();
    if (this.wireBytes > 0) void this.deliver(true);
    else this.fail(fault ?? new CrawlError('fetch-aborted', 'the connection broke off before the body'));
  }

  private async deliver(isCut: boolean): Promise<void> {
    if (this.isSettled || this.head === null) return;
    this.release();
    const { chunks } = this;
    this.chunks = [];
    const wireBody = joined(chunks, Math.min(this.wireBytes, this.request.maxBodyBytes));
    try {
      const codings = contentCodings(this.head.headers['content-encoding']);
      if (codings.length === 0) return this.succeed(wireBody, wireBody, isCut);
      const { body, truncated } = await decodeBody(wireBody, codings, this.request.maxBodyBytes, isCut);
      this.succeed(wireBody, body, truncated);
    } catch (error) {
      this.fail(error);
    }
  }

  private succeed(wireBody: Uint8Array | null, body: Uint8Array | null, truncated: boolean): void {
    if (this.head === null) return;
    this.release();
    this.resolve({
      head: this.head,
      wireBody,
      body,
      truncated,
      bodyBytes: wireBody === null ? 0 : this.wireBytes,
      receivedBytes: headBytes(this.head) + this.wireBytes,
      ms: Math.round(performance.now() - this.startedAt),
    });
  }

  private fail(error: unknown): void {
    this.release();
    this.stream?.destroy();
    this.chunks = [];
    this.reject(error);
  }

  /** From here on nothing the network does matters to the outcome. */
  private release(): void {
    this.isSettled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this.onAbort);
  }

  private readonly onAbort = (): void => {
    const { signal } = this.request;
    this.fail(new CrawlError('fetch-aborted', 'the exchange was given up', { cause: signal?.reason }));
  };

  private onProgress(): void {
    const isFirst = this.stalledAt === Number.POSITIVE_INFINITY;
    this.stalledAt = performance.now() + this.stallTimeoutMs;
    if (isFirst) this.armTimer();
  }

  /** One timer for both limits. It is not moved with every chunk: when it fires early it sets itself anew. */
  private armTimer(): void {
    clearTimeout(this.timer);
    const dueAt = Math.min(this.deadlineAt, this.stalledAt);
    this.timer = setTimeout(this.onTimer, Math.max(1, Math.ceil(dueAt - performance.now())));
  }

  private readonly onTimer = (): void => {
    const now = performance.now();
    if (now >= this.deadlineAt) {
      this.fail(new CrawlError('fetch-timeout', `not done after ${this.request.timeoutMs} ms`));
    } else if (now >= this.stalledAt) {
      this.fail(new CrawlError('fetch-timeout', `the body stalled for ${this.stallTimeoutMs} ms`));
    } else {
      this.armTimer();
    }
  };
}

function joined(chunks: readonly Buffer[], bytes: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only?.length === bytes) return owned(only);
  const body = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(body, at);
  return body;
}
