import type { Socket } from 'node:net';
import type { SocketMaker } from '../guard/guarded-socket.ts';
import type { Undici, UndiciClient } from './undici.ts';

export interface UndiciConnectionOptions {
  readonly undici: Undici;
  readonly makeSocket: SocketMaker;
  readonly maxHeaderBytes: number;
  readonly idleTimeoutMs: number;
}

/** Bytes of a response that are kept to find its status line, also behind stray line ends, which parsers skip. */
const START_BYTES = 128;

/** One connection, with an undici client of its own, so that the socket behind a response is known. */
export class UndiciConnection {
  readonly origin: string;
  readonly client: UndiciClient;
  remoteAddress: string | null = null;
  /** Exchanges that its socket has served. */
  served = 0;
  private readonly parserKey: symbol;
  private socket: Socket | null = null;
  /** The first bytes received since {@link expectResponse}. */
  private start = '';

  /** `url` is any URL of the origin. `onLost` is called when the socket is gone, for any reason but {@link destroy}. */
  constructor(origin: string, url: URL, isNamed: boolean, options: UndiciConnectionOptions, onLost: () => void) {
    this.origin = origin;
    this.parserKey = options.undici.parserKey;
    const { idleTimeoutMs } = options;
    const isSecure = url.protocol === 'https:';
    const target = {
      isSecure,
      hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      isNamed,
    };
    this.client = new options.undici.Client(origin, {
      pipelining: 1,
      maxHeaderSize: options.maxHeaderBytes,
      // The exchange has timeouts of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      keepAliveMaxTimeout: idleTimeoutMs,
      keepAliveTimeoutThreshold: 1_000,
      // Called again when the server closes the connection between two exchanges.
      connect: (_options, done) => {
        this.served = 0;
        this.socket = options.makeSocket(target, (fault, socket) => {
          if (socket === null) return done(fault ?? new Error('no connection'), null);
          this.socket = socket;
          this.remoteAddress = socket.remoteAddress ?? null;
          this.watchStart(socket);
          done(null, socket);
        });
      },
    });
    this.client.on('disconnect', onLost);
  }

  /** Whether it can serve another exchange. */
  get isOpen(): boolean {
    return this.socket !== null && !this.socket.destroyed && !this.client.destroyed;
  }

  get wasReset(): boolean {
    const fault = this.socket?.errored;
    return fault instanceof Error && 'code' in fault && fault.code === 'ECONNRESET';
  }

  /** Whether the server ended or reset the connection. */
  get hasPeerLeft(): boolean {
    return this.socket?.readableEnded === true || this.wasReset;
  }

  /** Forgets the response before. */
  expectResponse(): void {
    this.start = '';
  }

  /** Whether any byte has come since {@link expectResponse}. */
  get hasResponse(): boolean {
    return this.start !== '';
  }

  /** The version in the status line, which undici does not report. */
  get httpVersion(): string {
    return /HTTP\/(\d\.\d)/.exec(this.start)?.[1] ?? '1.1';
  }

  /**
   * The reason phrase as it was sent, in Latin-1 as from `node:http`: undici decodes it as UTF-8, and loses the front
   * of one that came in two packets. `null` where the first line has another status (early hints), or is incomplete.
   */
  reasonOf(status: number): string | null {
    const [, code, reason] = /HTTP\/\d\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(this.start) ?? [];
    return Number(code) === status ? (reason ?? '') : null;
  }

  /**
   * The Content-Length of a 304 is that of the page (RFC 9110 section 8.6). undici waits for so many bytes and closes
   * the connection when none come, unless its parser forgets the field.
   */
  expectNoBody(): void {
    const parser = (this.socket as Record<symbol, { contentLength: string } | null> | null)?.[this.parserKey];
    if (parser) parser.contentLength = '';
  }

  destroy(): void {
    this.client.removeAllListeners('disconnect');
    if (!this.client.destroyed) void this.client.destroy();
    this.socket?.destroy();
  }

  /** undici consumes the socket by `read()`, so the bytes are seen there. */
  private watchStart(socket: Socket): void {
    const { read } = socket;
    socket.read = (size?: number) => {
      const chunk: Buffer | null = read.call(socket, size);
      if (chunk !== null && this.start.length < START_BYTES) {
        if (this.start === '') passOverContinue(chunk);
        this.start += chunk.toString('latin1', 0, START_BYTES);
      }
      return chunk;
    };
  }
}

const CONTINUE = /^HTTP\/1\.[01] 100[ \r\n]/;

/**
 * undici ends the exchange at a 100 that it did not ask for, where a client has to pass over it (RFC 9110 section
 * 15.2). It is given the number of another interim answer, 102, in place.
 */
function passOverContinue(start: Buffer): void {
  if (start[9] === 0x31 && CONTINUE.test(start.toString('latin1', 0, 13))) start[11] = 0x32;
}
