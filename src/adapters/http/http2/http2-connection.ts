// adapters/http/http2/: HTTP/2 over TLS, by `node:http2`.
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * Fields of a response that Node keeps. With names and values of its compression table (4 KiB) this bounds what a few
 * bytes can blow up to; the limit in bytes is that of the configuration.
 */
const MAX_FIELDS = 8_192;

/** Room for bodies that were not read yet, of a stream and of the connection: what servers may send ahead, bytes. */
const WINDOW_BYTES = 256 * 1024;

/** One connection of HTTP/2 (RFC 9113), which carries any number of exchanges with one origin. */
export class Http2Connection {
  readonly origin: string;
  readonly session: ClientHttp2Session;
  readonly remoteAddress: string | null;
  /** Exchanges under way. */
  running = 0;
  /** Exchanges that have come to an end. */
  served = 0;
  /** Why it was lost. */
  fault: Error | null = null;
  private isLeaving = false;

  /** `socket` has agreed on `h2`. `onLost` is called once, when no exchange can be begun any more. */
  constructor(origin: string, socket: Socket, maxHeaderBytes: number, onLost: () => void) {
    this.origin = origin;
    this.remoteAddress = socket.remoteAddress ?? null;
    const options: SecureClientSessionOptions & { maxHeaderListPairs: number } = {
      createConnection: () => socket,
      maxHeaderListPairs: MAX_FIELDS,
      settings: {
        enablePush: false,
        initialWindowSize: WINDOW_BYTES,
        // Beyond it Node answers with a reset that looks like one of the server; the exchange counts before.
        maxHeaderListSize: Math.max(1024 * 1024, 4 * maxHeaderBytes),
      },
    };
    const session = connect(origin, options);
    this.session = session;
    const leave = (): void => {
      if (this.isLeaving) return;
      this.isLeaving = true;
      onLost();
    };
    session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
    // Streams that the server has not taken end with REFUSED_STREAM, the others go on.
    session.on('goaway', leave);
    session.on('close', leave);
    session.on('error', (fault: Error) => {
      this.fault = fault;
    });
  }

  /** Whether another exchange can be begun. */
  get isOpen(): boolean {
    return !this.isLeaving && !this.session.closed && !this.session.destroyed;
  }

  destroy(): void {
    this.isLeaving = true;
    this.session.destroy();
  }
}
