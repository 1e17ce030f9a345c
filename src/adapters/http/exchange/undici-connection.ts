import type { Socket } from 'node:net';
import type { SocketMaker } from '../guard/guarded-socket.ts';
import type { UndiciClient, UndiciClientClass } from './undici.ts';

export interface UndiciConnectionOptions {
  readonly client: UndiciClientClass;
  readonly makeSocket: SocketMaker;
  readonly maxHeaderBytes: number;
  readonly idleTimeoutMs: number;
}

/**
 * As much of the beginning of an answer as holds its first line, also behind stray line ends, which parsers pass over.
 */
const START_BYTES = 128;

/** One connection, with a client of undici to itself, so that the socket behind an answer is known. */
export class UndiciConnection {
  readonly origin: string;
  readonly client: UndiciClient;
  remoteAddress: string | null = null;
  /** Exchanges that its socket has served. */
  served = 0;
  private socket: Socket | null = null;
  /** The first bytes received since {@link expectAnswer}. */
  private start = '';

  /**
   * `url` is any URL of the origin. `onLost` is told when the socket is gone, for whatever reason but {@link destroy}.
   */
  constructor(origin: string, url: URL, isNamed: boolean, options: UndiciConnectionOptions, onLost: () => void) {
    this.origin = origin;
    const { idleTimeoutMs } = options;
    const isSecure = url.protocol === 'https:';
    const target = {
      isSecure,
      hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      isNamed,
    };
    this.client = new options.client(origin, {
      pipelining: 1,
      maxHeaderSize: options.maxHeaderBytes,
      // The exchange has limits of time of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      keepAliveMaxTimeout: idleTimeoutMs,
      keepAliveTimeoutThreshold: 1_000,
      // Asked again when the server closes the connection between two exchanges.
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

  /** Forgets the answer before. */
  expectAnswer(): void {
    this.start = '';
  }

  /** Whether anything has come since {@link expectAnswer}. */
  get hasAnswered(): boolean {
    return this.start !== '';
  }

  /** As in the first line that came; undici does not tell. */
  get httpVersion(): string {
    return /HTTP\/(\d\.\d)/.exec(this.start)?.[1] ?? '1.1';
  }

  /**
   * The reason as it was sent, in Latin-1 as `node:http` has it; undici decodes it as UTF-8, and loses the front of one
   * that came in two packets. `null` where the first line is that of another status (early hints), or is not to be seen
   * as a whole.
   */
  reasonOf(status: number): string | null {
    const [, code, reason] = /HTTP\/\d\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(this.start) ?? [];
    return Number(code) === status ? (reason ?? '') : null;
  }

  destroy(): void {
    this.client.removeAllListeners('disconnect');
    if (!this.client.destroyed) void this.client.destroy();
    this.socket?.destroy();
  }

  /** undici takes what has come by `read()`, so that is where it can be looked at. */
  private watchStart(socket: Socket): void {
    const { read } = socket;
    socket.read = (size?: number) => {
      const chunk: Buffer | null = read.call(socket, size);
      if (chunk !== null && this.start.length < START_BYTES) this.start += chunk.toString('latin1', 0, START_BYTES);
      return chunk;
    };
  }
}
