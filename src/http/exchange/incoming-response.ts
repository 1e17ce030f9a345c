import type { IncomingMessage } from 'node:http';
import { joinedFields } from '../../core/domain/crawl/headers/header-fields.ts';
import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import { isOutOfFiles, outOfFiles } from '../../core/domain/system-limit.ts';
import type { Exchange, ExchangeRequest, ResponseHead } from '../../core/ports/fetch-protocol.ts';
import { BLOCKED } from '../guard/address-guard.ts';
import { contentCodings, decodeBody, owned } from './content-coding.ts';

/** The head of a response that `node:http` has parsed. */
export function responseHead(response: IncomingMessage): ResponseHead {
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    httpVersion: response.httpVersion,
    headers: headersOf(response.rawHeaders),
    rawHeaders: response.rawHeaders,
    remoteAddress: response.socket?.remoteAddress ?? null,
  };
}

/** Fields by lower-case name, from alternating names and values as received. */
export function headersOf(rawHeaders: readonly string[]): Record<string, string> {
  const headers = joinedFields(rawHeaders);
  if (headers.location !== undefined) headers.location = utf8Where(headers.location);
  return headers;
}

/** Bytes of the head as received: status line, fields, and the empty line. */
function headBytes(head: ResponseHead): number {
  let bytes = `HTTP/${head.httpVersion} ${head.status} ${head.statusText}\r\n\r\n`.length;
  for (const text of head.rawHeaders) bytes += text.length + 2;
  return bytes;
}

/** Responses to HEAD, and those with some statuses, have no body whatever their headers say (RFC 9112 section 6.3). */
function hasNoBody(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

/** Fields are read as Latin-1, but servers write UTF-8 into Location. */
function utf8Where(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

export interface AbortWatch {
  /**
   * Calls back once when the signal aborts; the returned function stops watching. The signal must not be aborted yet.
   */
  watch(signal: AbortSignal, onAbort: (reason: unknown) => void): () => void;
}

/**
 * Watches an AbortSignal for thousands of waiting tasks with one listener: each call of `addEventListener` walks the
 * list of all listeners, which is quadratic for a whole window of tasks.
 */
export function createAbortWatch(): AbortWatch {
  const watched = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();
  return {
    watch(signal, onAbort) {
      let waiting = watched.get(signal);
      if (waiting === undefined) {
        const callbacks = new Set<(reason: unknown) => void>();
        waiting = callbacks;
        watched.set(signal, callbacks);
        signal.addEventListener(
          'abort',
          () => {
            watched.delete(signal);
            for (const callback of callbacks) callback(signal.reason);
            callbacks.clear();
          },
          { once: true },
        );
      }
      const callbacks = waiting;
      callbacks.add(onAbort);
      return () => callbacks.delete(onAbort);
    },
  };
}

/** How a body is handled: `read`; `none` (there is no body by definition); `drop` (discarded, whatever its length). */
type BodyPlan = 'read' | 'none' | 'drop';

/**
 * The response of one exchange while it arrives, for either transport: time limits, the decision on the head, the body
 * up to its limit, its decoding, and the byte counts. It settles once; later reports of the transport change nothing.
 */
export class IncomingResponse {
  /** `null` until it has arrived. */
  head: ResponseHead | null = null;
  isSettled = false;
  /** `null` until the head has arrived. */
  plan: BodyPlan | null = null;
  private readonly request: ExchangeRequest;
  private readonly stallTimeoutMs: number;
  private readonly cut: () => void;
  private readonly startedAt = performance.now();
  private readonly deadlineAt: number;
  /** End of the present phase in the time of `performance.now()`, and the fault to report then. */
  private phaseEndsAt = Number.POSITIVE_INFINITY;
  private phaseFault = '';
  private phaseMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private timerDueAt = Number.POSITIVE_INFINITY;
  private chunks: Buffer[] = [];
  private wireBytes = 0;
  private resolve: (exchange: Exchange | Promise<Exchange>) => void = () => {};
  private reject: (error: unknown) => void = () => {};

  /** `cut` ends the exchange in the transport. It may be called more than once, and after the end. */
  constructor(request: ExchangeRequest, stallTimeoutMs: number, cut: () => void) {
    this.request = request;
    this.stallTimeoutMs = stallTimeoutMs;
    this.cut = cut;
    this.deadlineAt = this.startedAt + request.timeoutMs;
  }

  /** Sends the request, unless the exchange was aborted. May be called once. */
  receive(send: () => void): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      const { signal } = this.request;
      if (signal?.aborted) return this.onAbort();
      signal?.addEventListener('abort', this.onAbort, { once: true });
      this.armTimer(this.startedAt + this.stallTimeoutMs);
      send();
    });
  }

  /** The request is about to be sent. False: it must not be sent, because the exchange has ended. */
  onSend(): boolean {
    if (!this.isSettled) this.request.onSend?.();
    return !this.isSettled;
  }

  /** The request was sent: the head must come within `timeoutMs`. */
  awaitHead(timeoutMs: number): void {
    this.enterPhase(timeoutMs, 'no answer');
  }

  /** Decides how the body is handled; `null`: the head ends the exchange with a failure. */
  onHead(head: ResponseHead): BodyPlan | null {
    if (this.isSettled) return null;
    this.head = head;
    this.phaseEndsAt = Number.POSITIVE_INFINITY;
    try {
      this.plan = this.planFor(head);
      if (this.plan === 'read') this.onProgress();
    } catch (error) {
      this.fail(error);
    }
    return this.plan;
  }

  /** Bytes of the body have arrived, or may arrive from now on. */
  onProgress(): void {
    this.enterPhase(this.stallTimeoutMs, 'the body stalled');
  }

  onChunk(chunk: Buffer): void {
    if (this.isSettled) return;
    this.chunks.push(chunk);
    this.wireBytes += chunk.length;
    if (this.wireBytes <= this.request.maxBodyBytes) return;
    this.cut();
    void this.deliver('limit');
  }

  /** The body was read to its end. */
  onEnd(): void {
    void this.deliver(null);
  }

  /** There was no body, or it was discarded after this many bytes; they crossed the wire, so they are counted. */
  onNoBody(droppedBytes: number): void {
    if (this.isSettled) return;
    this.wireBytes = droppedBytes;
    this.succeed(null, null, false, false);
  }

  /** The body broke off. The bytes received so far are delivered; if there are none, the exchange fails. */
  onPrematureEnd(fault: CrawlError | null): void {
    if (this.isSettled) return;
    this.cut();
    if (this.wireBytes > 0) void this.deliver('connection');
    else this.fail(fault ?? new CrawlError('fetch-aborted', 'the connection broke off before the body'));
  }

  /** The transport failed. This has no effect after the head of a response whose body is not read. */
  onFault(fault: CrawlError): void {
    if (this.plan === 'none') this.onNoBody(0);
    else if (this.plan === 'read' && fault.code === 'fetch-aborted') this.onPrematureEnd(fault);
    else if (this.plan !== 'drop') this.fail(fault);
  }

  /** Another transport makes the exchange instead of this one: its outcome counts. */
  settleBy(exchange: Promise<Exchange>): void {
    if (this.isSettled) return;
    this.release();
    this.resolve(exchange);
  }

  fail(error: unknown): void {
    if (this.isSettled) return;
    this.release();
    this.cut();
    this.chunks = [];
    this.reject(error);
  }

  private planFor(head: ResponseHead): BodyPlan {
    if (head.status < 200) throw new CrawlError('protocol-error', `status ${head.status} is not a final response`);
    const isOk = head.status >= 200 && head.status <= 299;
    const decision = this.request.onHead?.(head) ?? (isOk ? 'read' : 'drop');
    if (decision === 'read') contentCodings(head.headers['content-encoding']);
    return hasNoBody(this.request.method, head.status) ? 'none' : decision;
  }

  /** `cutBy`: the reason why the body is incomplete; `null`: it is complete. */
  private async deliver(cutBy: 'limit' | 'connection' | null): Promise<void> {
    if (this.isSettled || this.head === null) return;
    this.release();
    const { chunks, head } = this;
    this.chunks = [];
    const { maxBodyBytes } = this.request;
    const wireBody = joined(chunks, Math.min(this.wireBytes, maxBodyBytes));
    try {
      const codings = contentCodings(head.headers['content-encoding']);
      const brokenOff = cutBy === 'connection';
      if (codings.length === 0) return this.succeed(wireBody, wireBody, cutBy !== null, brokenOff);
      const { body, truncated, isTorn } = await decodeBody(wireBody, codings, maxBodyBytes, cutBy !== null);
      this.succeed(wireBody, body, truncated, brokenOff || isTorn);
    } catch (error) {
      this.reject(error);
    }
  }

  private succeed(wireBody: Uint8Array | null, body: Uint8Array | null, truncated: boolean, brokenOff: boolean): void {
    if (this.head === null) return;
    this.release();
    this.resolve({
      head: this.head,
      wireBody,
      body,
      truncated,
      ...(brokenOff ? { brokenOff } : {}),
      bodyBytes: this.wireBytes,
      receivedBytes: headBytes(this.head) + this.wireBytes,
      ms: Math.round(performance.now() - this.startedAt),
    });
  }

  /** Stops timer and watch, after the outcome is decided. */
  private release(): void {
    this.isSettled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this.onAbort);
  }

  private readonly onAbort = (): void => {
    const { signal } = this.request;
    this.fail(new CrawlError('fetch-aborted', 'the exchange was aborted', { cause: signal?.reason }));
  };

  private enterPhase(timeoutMs: number, fault: string): void {
    this.phaseEndsAt = performance.now() + timeoutMs;
    this.phaseFault = fault;
    this.phaseMs = timeoutMs;
    if (this.phaseEndsAt < this.timerDueAt) this.armTimer(this.phaseEndsAt);
  }

  /**
   * One timer for all limits. It checks them when it fires, which may be too early, and is only ever moved nearer. In
   * the usual case, a phase as long as the one before, it need not be moved.
   */
  private armTimer(dueAt: number): void {
    clearTimeout(this.timer);
    this.timerDueAt = Math.min(this.deadlineAt, dueAt);
    this.timer = setTimeout(this.onTimer, Math.max(1, Math.ceil(this.timerDueAt - performance.now())));
  }

  private readonly onTimer = (): void => {
    const now = performance.now();
    if (now >= this.deadlineAt) {
      this.fail(new CrawlError('fetch-timeout', `not done after ${this.request.timeoutMs} ms`));
    } else if (now >= this.phaseEndsAt) {
      this.fail(new CrawlError('fetch-timeout', `${this.phaseFault} for ${this.phaseMs} ms`));
    } else {
      this.armTimer(this.phaseEndsAt);
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

const DNS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME', 'ENODATA', 'ESERVFAIL']);
const CONNECT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);
const BROKEN = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);
/**
 * Node's names for faults that OpenSSL finds in certificates; `UNSPECIFIED` is any other fault, such as a key that is
 * too weak.
 */
const TLS =
  /^(ERR_SSL|ERR_TLS|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED|EPROTO)$)/;
/** Phases of got's own timeouts, all before the head of the response. */
const PHASES: Readonly<Record<string, ErrorCode>> = {
  lookup: 'dns-failed',
  connect: 'connect-timeout',
  secureConnect: 'tls-failed',
};

/** The stable code for an error of got, node:http, node:tls or a resolver, which stays as `cause`. */
export function networkFault(error: unknown): CrawlError {
  if (error instanceof CrawlError) return error;
  // A fault of this machine is never a fault of the host.
  if (isOutOfFiles(error)) return outOfFiles('no connection could be opened', error);
  const chain = chainOf(error);
  const message = chain[0]?.message ?? String(error);
  for (const link of chain) {
    if (link instanceof CrawlError) return link;
    const code = codeOf(link);
    if (code !== null) return new CrawlError(code, message, { cause: error });
  }
  return new CrawlError('connect-failed', message, { cause: error });
}

type Link = Error & { readonly code?: unknown; readonly event?: unknown; readonly errors?: unknown };

/** The error, its causes, and the attempts in an AggregateError (several addresses were tried). */
function chainOf(error: unknown): Link[] {
  const chain: Link[] = [];
  const pending = [error];
  while (pending.length > 0 && chain.length < 8) {
    const link = pending.shift();
    if (!(link instanceof Error)) continue;
    chain.push(link);
    pending.push(link.cause, ...('errors' in link && Array.isArray(link.errors) ? link.errors : []));
  }
  return chain;
}

function codeOf(link: Link): ErrorCode | null {
  const code = typeof link.code === 'string' ? link.code : '';
  if (typeof link.event === 'string') return PHASES[link.event] ?? 'fetch-timeout';
  if (code === BLOCKED || link.message.includes('is not allowed. Because')) return 'address-blocked';
  if (DNS.has(code)) return 'dns-failed';
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large';
  if (code.startsWith('HPE_') || code.startsWith('ERR_HTTP_') || code === 'ERR_INVALID_CHAR') return 'protocol-error';
  if (code === 'ETIMEDOUT') return 'connect-timeout';
  if (CONNECT.has(code)) return 'connect-failed';
  if (TLS.test(code)) return 'tls-failed';
  return BROKEN.has(code) ? 'fetch-aborted' : null;
}
