import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Stream, constants, type IncomingHttpStatusHeader } from 'node:http2';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest, ResponseHead } from '../../core/ports/fetch-protocol.ts';
import { headersOf, IncomingResponse, networkFault } from '../../http/exchange/incoming-response.ts';
import type { HttpProtocolSettings } from '../../http/exchange/protocol-options.ts';
import type { Http2Connection, Http2Connections } from './http2-connections.ts';

/** Names of error codes, from 0 (RFC 9113 section 7). */
const NAMES = `NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR
  REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED`.split(
  /\s+/,
);

/** Codes that a side sends when the other broke the rules (RFC 9113 section 7). */
const BROKEN_RULES: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
]);

/** The stable code for a stream that ended early. `resetCode`: the code of its RST_STREAM. */
export function http2Fault(error: Error | null, resetCode: number): CrawlError {
  const code = error !== null && 'code' in error ? String(error.code) : '';
  const isOfHttp2 = error === null || code.startsWith('ERR_HTTP2_');
  if (!isOfHttp2) return networkFault(error);
  const cause = error === null ? {} : { cause: error };
  const text = `the server ended the exchange (${NAMES[resetCode] ?? `code ${resetCode}`})`;
  if (code === 'ERR_HTTP2_ERROR' || BROKEN_RULES.has(resetCode)) {
    return new CrawlError('protocol-error', error?.message ?? text, cause);
  }
  return new CrawlError('fetch-aborted', text, cause);
}

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_HTTP_1_1_REQUIRED } = constants;

export interface Http2ExchangeDeps {
  readonly connections: Http2Connections;
  readonly settings: HttpProtocolSettings;
  /** The same exchange over HTTP/1.1. */
  byHttp1(request: ExchangeRequest): Promise<Exchange>;
}

/**
 * One exchange as a stream of a connection. It is sent once more on a new connection if the server refused the stream
 * unprocessed, or closed a kept connection before any part of an answer (RFC 9113 section 8.7).
 */
export class Http2Exchange {
  private readonly deps: Http2ExchangeDeps;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly incoming: IncomingResponse;
  private readonly startedAt = performance.now();
  /** While this exchange has it. */
  private connection: Http2Connection | null = null;
  private stream: ClientHttp2Stream | null = null;
  private leaveQueue: () => void = () => {};
  private isReplaced = false;
  private bodyBytes = 0;

  constructor(deps: Http2ExchangeDeps, url: URL, request: ExchangeRequest) {
    this.deps = deps;
    this.url = url;
    this.request = request;
    this.incoming = new IncomingResponse(request, deps.settings.stallTimeoutMs, () => this.cut());
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return this.incoming.receive(() => this.send());
  }

  private send(): void {
    this.leaveQueue = this.deps.connections.acquire(this.url, {
      use: (connection) => (connection === null ? this.fallBack() : this.sendOn(connection)),
      fail: (fault) => this.incoming.onFault(networkFault(fault)),
    });
  }

  private fallBack(): void {
    const spentMs = Math.round(performance.now() - this.startedAt);
    const timeoutMs = Math.max(1, this.request.timeoutMs - spentMs);
    const exchange = this.deps.byHttp1({ ...this.request, timeoutMs });
    this.incoming.settleBy(exchange.then((done) => ({ ...done, ms: done.ms + spentMs })));
  }

  private sendOn(connection: Http2Connection): void {
    const { settings } = this.deps;
    this.connection = connection;
    if (!this.incoming.onSend()) return;
    const fields = { ...settings.headers, ...this.request.headers };
    let stream: ClientHttp2Stream;
    try {
      const { pathname, search } = this.url;
      const pseudo = { ':method': this.request.method, ':path': pathname + search };
      stream = connection.session.request({ ...fields, ...pseudo }, { endStream: true });
    } catch (error) {
      this.giveBack();
      this.incoming.fail(http2Fault(error as Error, NGHTTP2_NO_ERROR));
      return;
    }
    this.stream = stream;
    this.incoming.awaitHead(settings.headTimeoutMs);
    let fault: Error | null = null;
    stream.on('error', (error: Error) => {
      fault = error;
    });
    // Node also passes the fields as received.
    stream.once('response', (head: IncomingHttpStatusHeader, _flags: number, ...more: unknown[]) => {
      if (stream === this.stream) this.onHead(head, more[0] as readonly string[]);
    });
    stream.on('data', (chunk: Buffer) => {
      if (stream === this.stream) this.onData(chunk);
    });
    stream.once('close', () => {
      if (stream === this.stream) this.onClose(stream, fault);
    });
  }

  private onHead({ ':status': status = 0 }: IncomingHttpStatusHeader, fields: readonly string[]): void {
    const { connection, incoming } = this;
    if (connection === null) return;
    const rawHeaders = fieldsOf(fields);
    const bytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
    const { maxHeaderBytes } = this.deps.settings;
    if (bytes > maxHeaderBytes) {
      incoming.fail(new CrawlError('headers-too-large', `the header fields have ${bytes} bytes`));
      return;
    }
    const head: ResponseHead = {
      status,
      // HTTP/2 has no reason phrases.
      statusText: STATUS_CODES[status] ?? '',
      httpVersion: '2',
      headers: headersOf(rawHeaders),
      rawHeaders,
      remoteAddress: connection.remoteAddress,
    };
    // Bytes that came with the head are counted first.
    if (incoming.onHead(head) === 'drop') setImmediate(() => this.drop());
  }

  private onData(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.incoming.plan !== 'read') return;
    this.incoming.onProgress();
    this.incoming.onChunk(chunk);
  }

  private drop(): void {
    this.cut();
    this.incoming.onNoBody(this.bodyBytes);
  }

  private onClose({ rstCode }: ClientHttp2Stream, error: Error | null): void {
    const { connection, incoming } = this;
    if (connection === null) return;
    const isLost = !connection.isOpen;
    const wasKept = connection.served > 0;
    this.giveBack();
    if (incoming.isSettled || incoming.plan === 'drop') return;
    if (incoming.plan === null) this.onNoHead(connection, isLost && wasKept, error, rstCode ?? NGHTTP2_NO_ERROR);
    else if (incoming.plan === 'none') incoming.onNoBody(0);
    else if (rstCode === NGHTTP2_NO_ERROR && error === null && !this.isShort()) incoming.onEnd();
    else incoming.onPrematureEnd(null);
  }

  private onNoHead({ fault }: Http2Connection, isStale: boolean, error: Error | null, resetCode: number): void {
    if (resetCode === NGHTTP2_HTTP_1_1_REQUIRED) {
      this.deps.connections.setHttp1(this.url);
      this.fallBack();
    } else if (!this.isReplaced && (isStale || resetCode === NGHTTP2_REFUSED_STREAM)) {
      this.isReplaced = true;
      this.send();
    } else {
      this.incoming.onFault(http2Fault(fault ?? error, resetCode));
    }
  }

  /** A reset without an error may come before the end; then only the length shows it. */
  private isShort(): boolean {
    return this.bodyBytes < Number(this.incoming.head?.headers['content-length'] ?? 0);
  }

  private giveBack(): void {
    const { connection } = this;
    if (connection === null) return;
    this.connection = null;
    this.stream = null;
    this.deps.connections.release(connection);
  }

  /** The connection stays open for the next exchange. */
  private cut(): void {
    this.leaveQueue();
    const { stream } = this;
    this.giveBack();
    stream?.close(NGHTTP2_CANCEL);
    stream?.resume();
  }
}

/** Names and values alternating, as received, without the pseudo-fields. */
function fieldsOf(received: readonly string[]): string[] {
  const fields: string[] = [];
  for (let i = 0; i + 1 < received.length; i += 2) {
    const name = received[i] as string;
    if (!name.startsWith(':')) fields.push(name, (received[i + 1] as string).trim());
  }
  return fields;
}
