import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import { CrawlError } from '../../../domain/errors.ts';
import type { Exchange, ExchangeRequest } from '../../../ports/fetch-protocol.ts';
import { Answer } from './answer.ts';
import type { HttpProtocolSettings } from './protocol-options.ts';
import { headersOf } from './response-head.ts';
import type { UndiciConnection } from './undici-connection.ts';
import type { UndiciConnections } from './undici-connections.ts';
import { undiciFault } from './undici-fault.ts';

/**
 * One exchange through undici. It is the handler that undici calls from its parser, which costs half of what undici's
 * own `request` with its stream does. A kept connection that the server closed while it lay idle is replaced once, as
 * long as nothing of an answer has come (RFC 9112 section 9.3.1).
 */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  private readonly connections: UndiciConnections;
  private readonly url: URL;
  private readonly request: ExchangeRequest;
  private readonly settings: HttpProtocolSettings;
  private readonly answer: Answer;
  /** While it is ours. */
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
    this.answer = new Answer(request, settings.stallTimeoutMs, () => this.cut());
  }

  /** May be called once. */
  run(): Promise<Exchange> {
    return this.answer.receive(() => this.send());
  }

  private send(): void {
    this.leaveQueue = this.connections.acquire(this.url, (connection) => {
      this.connection = connection;
      this.abort = null;
      connection.expectAnswer();
      const { method, headers } = this.request;
      connection.client.dispatch(
        {
          path: this.url.pathname + this.url.search,
          method,
          headers: { ...this.settings.headers, ...headers },
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
    this.answer.awaitHead(this.settings.headTimeoutMs);
  }

  onHeaders(status: number, fields: readonly Buffer[], _resume: () => void, reason: string): boolean {
    const { connection } = this;
    if (connection === null) return true;
    if (status === 101) {
      this.answer.fail(new CrawlError('protocol-error', 'the server changed to another protocol without being asked'));
    } else if (status >= 200) {
      const rawHeaders = textsOf(fields);
      const { httpVersion, remoteAddress } = connection;
      // Where a server gives no reason, the usual one stands, as with got.
      const statusText = (connection.reasonOf(status) ?? reason) || (STATUS_CODES[status] ?? '');
      const head = { status, statusText, httpVersion, headers: headersOf(rawHeaders), rawHeaders, remoteAddress };
      // One turn later the parser has been through all that came with the head: where that was the whole answer, the
      // connection is kept.
      if (this.answer.onHead(head) === 'drop') process.nextTick(() => this.drop());
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.answer.plan === 'read') {
      this.answer.onProgress();
      this.answer.onChunk(chunk);
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
    if (this.answer.plan === 'drop') return;
    const isWhole = !connection.wasReset;
    this.giveBack();
    if (this.answer.plan === 'none') this.answer.onNoBody(0);
    else if (isWhole) this.answer.onEnd();
    // undici takes a reset for the end of a body that has no other.
    else this.answer.onPrematureEnd(null);
  }

  onError(error: Error): void {
    const { connection, answer } = this;
    if (connection === null || answer.isSettled) return;
    const fault = undiciFault(error, connection.hasPeerLeft);
    const isLost = this.abort === null || (fault.code === 'fetch-aborted' && !connection.hasAnswered);
    const isStale = connection.served > 0 && isLost;
    this.giveBack();
    if (isStale && !this.isReplaced) {
      this.isReplaced = true;
      this.connections.closeIdleTo(this.url);
      this.send();
    } else {
      answer.onFault(fault);
    }
  }

  private drop(): void {
    if (this.isComplete) this.giveBack();
    else this.cut();
    this.answer.onNoBody(this.droppedBytes);
  }

  /** undici may close the connection behind an answer, but has done so by the time this turn is over. */
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
 * Names and values in turn. Blanks behind a value, which undici leaves standing, are no part of it (RFC 9110 section
 * 5.5).
 */
function textsOf(fields: readonly Buffer[]): string[] {
  return fields.map((field) => {
    let end = field.length;
    while (end > 0 && (field[end - 1] === 0x20 || field[end - 1] === 0x09)) end--;
    return field.toString('latin1', 0, end);
  });
}
