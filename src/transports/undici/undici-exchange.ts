import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest } from '../../core/ports/fetch-protocol.ts';
import { headersOf, IncomingResponse, networkFault } from '../../http/exchange/incoming-response.ts';
import type { HttpProtocolSettings } from '../../http/exchange/protocol-options.ts';
import type { UndiciConnection, UndiciConnections } from './undici-connections.ts';

/** By error name: most errors of undici's parser have no code. */
const NAMES: Readonly<Record<string, ErrorCode>> = {
  HTTPParserError: 'protocol-error',
  HeadersOverflowError: 'headers-too-large',
  InvalidArgumentError: 'protocol-error',
  NotSupportedError: 'protocol-error',
  ResponseContentLengthMismatchError: 'protocol-error',
};

/**
 * The stable code for an error of undici, which is kept as `cause`. `hasPeerLeft`: the server ended or reset the
 * connection; parser errors are a consequence of that.
 */
function undiciFault(error: Error, hasPeerLeft: boolean): CrawlError {
  const { name, message } = error;
  const code = NAMES[name];
  if (code === 'protocol-error' && hasPeerLeft) return new CrawlError('fetch-aborted', message, { cause: error });
  if (code !== undefined) return new CrawlError(code, message, { cause: error });
  // An unrequested response, 100 Continue, or 101 Switching Protocols.
  if (name === 'SocketError' && message.startsWith('bad ')) {
    return new CrawlError('protocol-error', `${message}: the server sent something that was not requested`, {
      cause: error,
    });
  }
  if ('code' in error && String(error.code).startsWith('UND_ERR_')) {
    return new CrawlError('fetch-aborted', message, { cause: error });
  }
  return networkFault(error);
}

/**
 * One exchange through undici. It is the handler that undici calls from its parser, at half the cost of undici's own
 * `request` with its stream. A kept connection that the server closed while it was idle is replaced once, as long as no
 * byte of a response has arrived (RFC 9112 section 9.3.1).
 */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  private readonly connections: UndiciConnections;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly settings: HttpProtocolSettings;
  private readonly incoming: IncomingResponse;
  /** While this exchange has it. */
  private connection: UndiciConnection | null = null;
  private leaveQueue: () => void = () => {};
  private abort: (() => void) | null = null;
  private isReplaced = false;
  private isComplete = false;
  private droppedBytes = 0;

  constructor(connections: UndiciConnections, url: URL, request: ExchangeRequest, settings: HttpProtocolSettings) {
    this.connections = connections;
    this.url = url;
    this.request = request;
    this.settings = settings;
    this.incoming = new IncomingResponse(request, settings.stallTimeoutMs, () => this.cut());
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return this.incoming.receive(() => this.send());
  }

  private send(): void {
    this.leaveQueue = this.connections.acquire(this.url, (connection) => {
      this.connection = connection;
      this.abort = null;
      connection.expectResponse();
      const { method, headers } = this.request;
      const forwarding = this.url.protocol === 'http:' ? this.settings.forwarding : null;
      connection.client.dispatch(
        {
          path: forwarding === null ? this.url.pathname + this.url.search : this.url.href,
          method,
          headers: { ...this.settings.headers, ...headers, ...forwarding },
          // undici would close the connection after a HEAD.
          ...(method === 'HEAD' ? { reset: false } : {}),
        },
        this,
      );
    });
  }

  /** The request is about to be written. */
  onConnect(abort: () => void): void {
    this.abort = abort;
    if (this.incoming.onSend()) this.incoming.awaitHead(this.settings.headTimeoutMs);
  }

  onHeaders(status: number, fields: readonly Buffer[], _resume: () => void, reason: string): boolean {
    const { connection } = this;
    if (connection === null) return true;
    if (status === 101) {
      this.incoming.fail(new CrawlError('protocol-error', 'the server switched protocols unasked'));
    } else if (status >= 200) {
      if (status === 304) connection.expectNoBody();
      const rawHeaders = textsOf(fields);
      const { httpVersion, remoteAddress } = connection;
      // Without a reason phrase the usual one is reported, as with got.
      const statusText = (connection.reasonOf(status) ?? reason) || (STATUS_CODES[status] ?? '');
      const head = { status, statusText, httpVersion, headers: headersOf(rawHeaders), rawHeaders, remoteAddress };
      // One turn later the parser has processed everything that came with the head: if that was the whole response, the
      // connection is kept.
      if (this.incoming.onHead(head) === 'drop') process.nextTick(() => this.drop());
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.incoming.plan === 'read') {
      this.incoming.onProgress();
      this.incoming.onChunk(chunk);
    } else {
      this.droppedBytes += chunk.length;
    }
    return true;
  }

  onComplete(): void {
    const { connection } = this;
    if (connection === null) return;
    connection.served++;
    this.isComplete = true;
    if (this.incoming.plan === 'drop') return;
    const isWhole = !connection.wasReset;
    this.giveBack();
    if (this.incoming.plan === 'none') this.incoming.onNoBody(0);
    else if (isWhole) this.incoming.onEnd();
    // undici reports a reset as the end of a body without a declared length.
    else this.incoming.onPrematureEnd(null);
  }

  onError(error: Error): void {
    const { connection, incoming } = this;
    if (connection === null || incoming.isSettled) return;
    const fault = undiciFault(error, connection.hasPeerLeft);
    const isLost = this.abort === null || (fault.code === 'fetch-aborted' && !connection.hasResponse);
    const isStale = connection.served > 0 && isLost;
    this.giveBack();
    if (isStale && !this.isReplaced) {
      this.isReplaced = true;
      this.connections.closeIdleTo(this.url);
      this.send();
    } else {
      incoming.onFault(fault);
    }
  }

  private drop(): void {
    if (this.isComplete) this.giveBack();
    else this.cut();
    this.incoming.onNoBody(this.droppedBytes);
  }

  /** undici may close the connection after a response, and has done so by the end of this turn. */
  private giveBack(): void {
    const { connection } = this;
    if (connection === null) return;
    this.connection = null;
    queueMicrotask(() => this.connections.release(connection));
  }

  private cut(): void {
    this.leaveQueue();
    const { connection } = this;
    if (connection === null) return;
    this.giveBack();
    if (this.abort === null) connection.destroy();
    else this.abort();
  }
}

/**
 * Alternating names and values. Trailing whitespace of a value, which undici keeps, is not part of it (RFC 9110 section
 * 5.5).
 */
function textsOf(fields: readonly Buffer[]): string[] {
  return fields.map((field) => {
    let end = field.length;
    while (end > 0 && (field[end - 1] === 0x20 || field[end - 1] === 0x09)) end--;
    return field.toString('latin1', 0, end);
  });
}
