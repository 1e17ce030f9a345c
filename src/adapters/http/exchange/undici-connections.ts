import type { AddressGuard } from '../guard/address-guard.ts';
import { UndiciConnection, type UndiciConnectionOptions } from './undici-connection.ts';

export interface UndiciConnectionsOptions extends UndiciConnectionOptions {
  readonly guard: AddressGuard;
  /** Maximum connections to one origin. */
  readonly maxSockets: number;
  /** Maximum idle connections over all origins; the longest idle one is closed for the next. */
  readonly maxIdleSockets: number;
}

type Use = (connection: UndiciConnection) => void;

interface OriginRow {
  readonly url: URL;
  /** The one used last is at the end. */
  readonly idle: UndiciConnection[];
  readonly waiting: Use[];
  /** Idle or in use. */
  open: number;
}

/**
 * Kept connections by origin. The operator's exceptions depend on host and port, so a connection that only a named host
 * may have never serves another host.
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
   * Hands over the connection used last, or a new one: at once, or when the maximum is reached, as soon as one is given
   * back. The returned function cancels a request that still waits.
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

  /** Closes the idle connections to this origin: a server that has closed one has probably closed the older ones. */
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
