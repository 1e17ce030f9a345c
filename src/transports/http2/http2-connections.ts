// transports/http2/: HTTP/2 over TLS, by `node:http2`.

import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from 'node:http2';
import type { Socket } from 'node:net';
import { Lru } from '../../core/domain/lru.ts';
import type { AddressGuard } from '../../http/guard/address-guard.ts';
import type { SocketMaker, SocketTarget } from '../../http/guard/guarded-socket.ts';

/**
 * Maximum number of response fields that Node keeps. With names and values from its compression table (4 KiB), this
 * bounds what a few bytes can expand to; the limit in bytes is configured.
 */
const MAX_FIELDS = 8_192;

/** Flow-control window of a stream and of the connection: what servers may send ahead of reading, bytes. */
const WINDOW_BYTES = 256 * 1024;

/** One connection of HTTP/2 (RFC 9113), which carries any number of exchanges with one origin. */
export class Http2Connection {
  readonly origin: string;
  readonly session: ClientHttp2Session;
  readonly remoteAddress: string | null;
  /** Number of current exchanges. */
  running = 0;
  /** Number of ended exchanges. */
  served = 0;
  /** Why it was lost. */
  fault: Error | null = null;
  private isLeaving = false;

  /** `socket` has agreed on `h2`. `onLost` is called once, when no further exchange can begin. */
  constructor(origin: string, socket: Socket, maxHeaderBytes: number, onLost: () => void) {
    this.origin = origin;
    this.remoteAddress = socket.remoteAddress ?? null;
    const options: SecureClientSessionOptions & { maxHeaderListPairs: number } = {
      createConnection: () => socket,
      maxHeaderListPairs: MAX_FIELDS,
      settings: {
        enablePush: false,
        initialWindowSize: WINDOW_BYTES,
        // Beyond this size Node answers with a reset that looks like one from the server; the exchange checks its own
        // limit first.
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
    // Streams that the server has not taken end with REFUSED_STREAM; the others continue.
    session.on('goaway', leave);
    session.on('close', leave);
    session.on('error', (fault: Error) => {
      this.fault = fault;
    });
  }

  /** Whether another exchange can begin. */
  get isOpen(): boolean {
    return !this.isLeaving && !this.session.closed && !this.session.destroyed;
  }

  destroy(): void {
    this.isLeaving = true;
    this.session.destroy();
  }
}

export interface Http2ConnectionsOptions {
  readonly guard: AddressGuard;
  /** Offers `h2` and `http/1.1`; the negotiated protocol is in the socket's `alpnProtocol`. */
  readonly makeSocket: SocketMaker;
  readonly maxHeaderBytes: number;
  /** Maximum exchanges with one origin at a time. */
  readonly maxSockets: number;
  /** Maximum idle connections over all origins; the longest idle one is closed for the next. */
  readonly maxIdleSockets: number;
  readonly idleTimeoutMs: number;
}

export interface Http2Use {
  /** `null`: the server speaks HTTP/1.1. */
  use(connection: Http2Connection | null): void;
  /** No connection could be made. */
  fail(fault: Error): void;
}

interface OriginRow {
  readonly url: URL;
  readonly waiting: Http2Use[];
  /** Exchanges that have a connection. */
  running: number;
  connection: Http2Connection | null;
  /** Set while a connection is being made. */
  connecting: Socket | null;
}

/** Maximum number of origins remembered as having no HTTP/2. */
const KEPT_ORIGINS = 10_000;

/**
 * One connection to each origin, shared by its exchanges (RFC 9113 section 9.1). No connection serves another origin,
 * whatever the certificate names: the operator's exceptions depend on host and port.
 */
export class Http2Connections {
  private readonly options: Http2ConnectionsOptions;
  private readonly rows = new Map<string, OriginRow>();
  /** By origin, the longest idle first. */
  private readonly idle = new Map<Http2Connection, NodeJS.Timeout>();
  private readonly http1Origins = new Lru<true>({ entries: KEPT_ORIGINS });
  /** Connections that turned out to be HTTP/1.1 and are not yet used, by host and port. */
  private readonly parked = new Map<string, Socket>();

  constructor(options: Http2ConnectionsOptions) {
    this.options = options;
  }

  /** Whether the server is known to support only HTTP/1.1. */
  isHttp1(url: URL): boolean {
    return this.http1Origins.get(url.origin) !== undefined;
  }

  /** From now on HTTP/1.1 is used for the origin. */
  setHttp1(url: URL): void {
    this.http1Origins.set(url.origin, true);
  }

  /** Hands over the connection as soon as the maximum of exchanges allows. The returned function cancels the wait. */
  acquire(url: URL, use: Http2Use): () => void {
    const row = this.rows.get(url.origin) ?? this.addRow(url);
    row.waiting.push(use);
    this.serve(row);
    return () => {
      const place = row.waiting.indexOf(use);
      if (place < 0) return;
      row.waiting.splice(place, 1);
      if (row.waiting.length === 0) row.connecting?.destroy();
      this.tidy(row);
    };
  }

  /** Must be called once for each connection handed over, whatever its state. */
  release(connection: Http2Connection): void {
    const row = this.rows.get(connection.origin);
    connection.running--;
    connection.served++;
    if (connection.running === 0) this.rest(connection);
    if (row === undefined) return;
    row.running--;
    this.serve(row);
    this.tidy(row);
  }

  /** An HTTP/1.1 connection to the host that was made here, if there is one. */
  takeHttp1({ hostname, port }: SocketTarget): Socket | null {
    const key = `${hostname}:${port}`;
    const socket = this.parked.get(key);
    if (socket === undefined) return null;
    this.parked.delete(key);
    socket.setTimeout(0);
    return socket.destroyed || !socket.readable ? null : socket;
  }

  closeAllIdle(): void {
    for (const connection of this.idle.keys()) this.closeIdle(connection);
    for (const socket of this.parked.values()) socket.destroy();
    this.parked.clear();
  }

  private serve(row: OriginRow): void {
    while (row.waiting.length > 0 && row.running < this.options.maxSockets) {
      if (this.isHttp1(row.url)) {
        for (const { use } of row.waiting.splice(0)) use(null);
        return;
      }
      const { connection } = row;
      if (connection === null || !connection.isOpen) {
        if (row.connecting === null) this.open(row);
        return;
      }
      this.wake(connection);
      row.running++;
      connection.running++;
      (row.waiting.shift() as Http2Use).use(connection);
    }
  }

  private open(row: OriginRow): void {
    const { url } = row;
    const target = targetOf(url, this.options.guard.isNamed(url));
    row.connecting = this.options.makeSocket(target, (fault, socket) => {
      row.connecting = null;
      if (socket === null) {
        for (const { fail } of row.waiting.splice(0)) fail(fault ?? new Error('no connection'));
      } else if ((socket as Socket & { alpnProtocol?: unknown }).alpnProtocol === 'h2') {
        this.adopt(row, socket);
      } else {
        this.park(target, socket);
        this.setHttp1(url);
      }
      this.serve(row);
      this.tidy(row);
    });
  }

  private adopt(row: OriginRow, socket: Socket): void {
    const connection = new Http2Connection(row.url.origin, socket, this.options.maxHeaderBytes, () => {
      this.wake(connection);
      if (row.connection === connection) row.connection = null;
      this.tidy(row);
    });
    row.connection = connection;
    this.rest(connection);
  }

  private park({ hostname, port }: SocketTarget, socket: Socket): void {
    const key = `${hostname}:${port}`;
    this.parked.get(key)?.destroy();
    this.parked.set(key, socket);
    const forget = (): void => {
      if (this.parked.get(key) === socket) this.parked.delete(key);
    };
    socket.once('close', forget);
    socket.setTimeout(this.options.idleTimeoutMs, () => {
      if (this.parked.get(key) === socket) socket.destroy();
    });
  }

  /** Marks the connection as idle; it does not keep the process alive. */
  private rest(connection: Http2Connection): void {
    if (!connection.isOpen) return;
    connection.session.unref();
    const timer = setTimeout(() => this.closeIdle(connection), this.options.idleTimeoutMs);
    this.idle.set(connection, timer.unref());
    if (this.idle.size <= this.options.maxIdleSockets) return;
    const [oldest] = this.idle.keys();
    if (oldest !== undefined) this.closeIdle(oldest);
  }

  private wake(connection: Http2Connection): void {
    clearTimeout(this.idle.get(connection));
    this.idle.delete(connection);
    if (connection.isOpen) connection.session.ref();
  }

  private closeIdle(connection: Http2Connection): void {
    const row = this.rows.get(connection.origin);
    this.wake(connection);
    connection.destroy();
    if (row?.connection === connection) row.connection = null;
    if (row !== undefined) this.tidy(row);
  }

  private tidy(row: OriginRow): void {
    const isIdle = row.connection === null && row.connecting === null && row.running === 0 && row.waiting.length === 0;
    if (isIdle && this.rows.get(row.url.origin) === row) this.rows.delete(row.url.origin);
  }

  private addRow(url: URL): OriginRow {
    const row: OriginRow = { url, waiting: [], running: 0, connection: null, connecting: null };
    this.rows.set(url.origin, row);
    return row;
  }
}

function targetOf(url: URL, isNamed: boolean): SocketTarget {
  return {
    isSecure: true,
    hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === '' ? 443 : Number(url.port),
    isNamed,
  };
}
