// transports/undici/: one request and its response, by undici.

import type { Socket } from 'node:net';
import type { Client } from 'undici';
import type { AddressGuard } from '../../http/guard/address-guard.ts';
import type { SocketMaker } from '../../http/guard/guarded-socket.ts';

interface UndiciConnectionOptions {
  readonly undici: Undici;
  readonly makeSocket: SocketMaker;
  readonly maxHeaderBytes: number;
  readonly idleTimeoutMs: number;
}

/** Bytes of a response that are kept to find its status line, which may follow stray line ends that parsers skip. */
const START_BYTES = 128;

/** One connection, with an undici client of its own, so that the socket behind a response is known. */
export class UndiciConnection {
  readonly origin: string;
  readonly client: UndiciClient;
  remoteAddress: string | null = null;
  /** Number of exchanges that its socket has served. */
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
      // The exchange has its own timeouts.
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

  /** Forgets the previous response. */
  expectResponse(): void {
    this.start = '';
  }

  /** Whether any byte has arrived since {@link expectResponse}. */
  get hasResponse(): boolean {
    return this.start !== '';
  }

  /** The version in the status line, which undici does not report. */
  get httpVersion(): string {
    return /HTTP\/(\d\.\d)/.exec(this.start)?.[1] ?? '1.1';
  }

  /**
   * The reason phrase as sent, in Latin-1 as from `node:http`: undici decodes it as UTF-8, and loses the beginning of
   * one that came in two packets. `null` if the first line has another status (early hints), or is incomplete.
   */
  reasonOf(status: number): string | null {
    const [, code, reason] = /HTTP\/\d\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(this.start) ?? [];
    return Number(code) === status ? (reason ?? '') : null;
  }

  /**
   * The Content-Length of a 304 is that of the page (RFC 9110 section 8.6). undici waits for that many bytes and closes
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
 * undici ends the exchange at an unrequested 100, which a client has to ignore (RFC 9110 section 15.2). The bytes are
 * changed to another interim status, 102.
 */
function passOverContinue(start: Buffer): void {
  if (start[9] === 0x31 && CONTINUE.test(start.toString('latin1', 0, 13))) start[11] = 0x32;
}

interface UndiciConnectionsOptions extends UndiciConnectionOptions {
  readonly guard: AddressGuard;
  /** Maximum connections to one origin. */
  readonly maxSockets: number;
  /** Maximum idle connections over all origins; the longest idle one is closed for the next. */
  readonly maxIdleSockets: number;
}

type Use = (connection: UndiciConnection) => void;

interface OriginRow {
  readonly url: URL;
  /** The most recently used one is at the end. */
  readonly idle: UndiciConnection[];
  readonly waiting: Use[];
  /** Idle or in use. */
  open: number;
}

/**
 * Kept connections by origin. The operator's exceptions depend on host and port, so a connection reserved for a named
 * host never serves another host.
 */
export class UndiciConnections {
  private readonly options: UndiciConnectionsOptions;
  private readonly rows = new Map<string, OriginRow>();
  /** Over all origins, the longest idle first. */
  private readonly idle = new Set<UndiciConnection>();

  constructor(options: UndiciConnectionsOptions) {
    this.options = options;
  }

  /**
   * Hands over the most recently used connection, or a new one: at once, or, if the maximum is reached, as soon as one
   * is given back. The returned function cancels a waiting request.
   */
  acquire(url: URL, use: Use): () => void {
    const { origin } = url;
    const row = this.rows.get(origin) ?? this.addRow(origin, url);
    const kept = row.idle.pop();
    if (kept !== undefined) {
      this.idle.delete(kept);
      use(kept);
    } else if (row.open < this.options.maxSockets) {
      use(this.open(row, origin));
    } else {
      row.waiting.push(use);
      return () => {
        const place = row.waiting.indexOf(use);
        if (place >= 0) row.waiting.splice(place, 1);
      };
    }
    return () => {};
  }

  /** Takes a connection back, whatever its state. */
  release(connection: UndiciConnection): void {
    const row = this.rows.get(connection.origin);
    if (row === undefined) return;
    const next = row.waiting.shift();
    if (!connection.isOpen) {
      connection.destroy();
      row.open--;
      if (next !== undefined) next(this.open(row, connection.origin));
      else if (row.open === 0) this.rows.delete(connection.origin);
    } else if (next !== undefined) {
      next(connection);
    } else {
      row.idle.push(connection);
      this.idle.add(connection);
      if (this.idle.size > this.options.maxIdleSockets) this.closeIdle([...this.idle].slice(0, 1));
    }
  }

  /**
   * Closes the idle connections to this origin: a server that has closed one has probably closed the older ones too.
   */
  closeIdleTo(url: URL): void {
    this.closeIdle([...(this.rows.get(url.origin)?.idle ?? [])]);
  }

  closeAllIdle(): void {
    this.closeIdle([...this.idle]);
  }

  private closeIdle(connections: readonly UndiciConnection[]): void {
    for (const connection of connections) {
      const idle = this.rows.get(connection.origin)?.idle ?? [];
      idle.splice(idle.indexOf(connection), 1);
      this.idle.delete(connection);
      connection.destroy();
      this.release(connection);
    }
  }

  private open(row: OriginRow, origin: string): UndiciConnection {
    row.open++;
    const isNamed = this.options.guard.isNamed(row.url);
    const connection = new UndiciConnection(origin, row.url, isNamed, this.options, () => {
      // One in use is handled when it is given back.
      if (this.idle.has(connection)) this.closeIdle([connection]);
    });
    return connection;
  }

  private addRow(origin: string, url: URL): OriginRow {
    const row: OriginRow = { url, idle: [], waiting: [], open: 0 };
    this.rows.set(origin, row);
    return row;
  }
}

/** A client of undici: one origin, one connection. */
type UndiciClient = Client;

interface Undici {
  readonly Client: new (origin: string, options: Client.Options) => UndiciClient;
  /** The property of a socket under which undici keeps the parser of its responses. */
  readonly parserKey: symbol;
}

/**
 * The only modules of undici in use. The package's own entry also loads fetch, caches and mocks, which takes five times
 * as long, and installs a dispatcher beneath Node's `fetch`. The version is pinned, so the paths are stable.
 */
const CLIENT = 'undici/lib/dispatcher/client.js';
const SYMBOLS = 'undici/lib/core/symbols.js';

export async function loadUndici(): Promise<Undici> {
  const { default: client } = (await import(CLIENT)) as { readonly default: Undici['Client'] };
  const { default: symbols } = (await import(SYMBOLS)) as { readonly default: { readonly kParser: symbol } };
  return { Client: client, parserKey: symbols.kParser };
}
