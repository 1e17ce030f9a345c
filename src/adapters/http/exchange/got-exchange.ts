import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request } from 'got';
import { CrawlError } from '../../../domain/errors.ts';
import type { Exchange, ExchangeRequest } from '../../../ports/fetch-protocol.ts';
import { Answer } from './answer.ts';
import type { GotClient } from './got-client.ts';
import { networkFault } from './network-fault.ts';
import { responseHead } from './response-head.ts';

/** A kept connection that the server closed while it lay idle is replaced this often (RFC 9112 section 9.3.1). */
const MAX_STALE_CONNECTIONS = 3;

/**
 * One exchange through got, under limits of our own: got never settles on some answers (an unasked 101), whatever its
 * limits. got's stream is used up to the head; the body is read from the response itself, which spares a stream in
 * between.
 */
export class GotExchange {
  private readonly client: GotClient;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly answer: Answer;
  private stream: Request | null = null;
  private native: ClientRequest | null = null;
  private response: IncomingMessage | null = null;
  /** What had come over a kept connection before. */
  private bytesBefore = 0;
  private stale = 0;

  constructor(client: GotClient, url: URL, request: ExchangeRequest, stallTimeoutMs: number) {
    this.client = client;
    this.url = url;
    this.request = request;
    this.answer = new Answer(request, stallTimeoutMs, () => this.stream?.destroy());
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return this.answer.receive(() => this.send());
  }

  private send(): void {
    const stream = this.client(this.url, this.request.method, this.request.headers);
    this.stream = stream;
    stream.once('request', (native: ClientRequest) => {
      this.native = native;
      native.once('socket', ({ bytesRead }) => {
        this.bytesBefore = bytesRead;
      });
      native.once('error', (error) => this.onError(stream, error));
    });
    stream.once('response', (response: IncomingMessage) => this.onResponse(response));
    stream.once('upgrade', (_response: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      this.answer.fail(new CrawlError('protocol-error', 'the server changed to another protocol without being asked'));
    });
    // Stays attached: got reports some faults more than once, and an error without a listener would end the process.
    stream.on('error', (error) => this.onError(stream, error));
  }

  private onError(stream: Request, error: unknown): void {
    if (this.answer.isSettled || stream !== this.stream) return;
    // The answer is whole: the server sent more than it said, which makes the connection useless, not the page.
    if (this.response?.complete) return;
    const fault = networkFault(error);
    if (fault.code === 'fetch-aborted' && this.isStale() && this.stale < MAX_STALE_CONNECTIONS) {
      this.stale++;
      stream.destroy();
      this.send();
    } else {
      this.answer.onFault(fault);
    }
  }

  /** Whether the connection was a kept one over which nothing of an answer has come. */
  private isStale(): boolean {
    const { native } = this;
    if (this.answer.head !== null || native?.reusedSocket !== true) return false;
    return (native.socket?.bytesRead ?? 0) === this.bytesBefore;
  }

  private onResponse(response: IncomingMessage): void {
    this.response = response;
    const plan = this.answer.onHead(responseHead(response));
    if (plan === 'none') this.endWithout(response);
    else if (plan === 'read') this.read(response);
    else if (plan === 'drop') this.drop(response);
  }

  /** Read to its end, which comes at once, so that the connection can serve the next request. */
  private endWithout(response: IncomingMessage): void {
    response.once('end', () => this.answer.onNoBody(0));
    response.once('aborted', () => this.answer.onNoBody(0));
    readAway(response);
  }

  private drop(response: IncomingMessage): void {
    // One turn later the parser has been through all that came with the head: a body that is whole already costs
    // nothing more to read, and its connection is kept. Any other is closed, so that the server stops sending.
    process.nextTick(() => {
      if (this.answer.isSettled) return;
      const droppedBytes = response.readableLength;
      if (response.complete) readAway(response);
      else this.stream?.destroy();
      this.answer.onNoBody(droppedBytes);
    });
  }

  private read(response: IncomingMessage): void {
    response.on('readable', () => {
      this.answer.onProgress();
      let chunk: Buffer | null = response.read();
      while (chunk !== null) {
        this.answer.onChunk(chunk);
        if (this.answer.isSettled) return;
        chunk = response.read();
      }
    });
    response.once('end', () => this.answer.onEnd());
    response.once('aborted', () => this.answer.onPrematureEnd(null));
  }
}

/** Not by `resume`, which does nothing where got listens for "readable". */
function readAway(response: IncomingMessage): void {
  response.on('readable', () => {
    while (response.read() !== null);
  });
}
