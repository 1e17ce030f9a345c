import { Socket } from 'node:net';
import { type LoadPackage, loadPackage } from '../../core/packages/find-package.ts';

/**
 * The part of node-postgres that is used. It is declared here because the package is optional: the build needs none.
 */

export interface PgQuery {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Name of a prepared statement. */
  readonly name?: string;
  readonly rowMode?: 'array';
}

export interface PgResult {
  readonly rows: readonly (readonly unknown[])[];
  readonly rowCount: number | null;
}

export interface PgClient {
  query(query: PgQuery): Promise<PgResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { readonly payload?: string }) => void): unknown;
}

export interface PgPoolClient extends PgClient {
  /** Gives the connection back to its pool; `true` or an error: closes it. */
  release(end?: boolean | Error): void;
}

export interface PgPool {
  connect(): Promise<PgPoolClient>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
}

export interface PgOptions {
  readonly connectionString: string;
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  readonly idleTimeoutMillis: number;
  readonly maxLifetimeSeconds?: number;
  readonly keepAlive: boolean;
  readonly application_name: string;
  readonly statement_timeout?: number;
  readonly options?: string;
  /** The process may end while connections are idle. */
  readonly allowExitOnIdle: boolean;
}

/**
 * A connection that breaks with what its listeners throw: node-postgres throws at a message that contradicts itself,
 * which would end the process.
 */
class CatchingSocket extends Socket {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    try {
      return super.emit(event, ...args);
    } catch (error) {
      if (event !== 'data') throw error;
      this.destroy(
        new Error(`it sent what is no message of its protocol: ${(error as Error).message}`, { cause: error }),
      );
      return true;
    }
  }
}

/**
 * An idle connection that breaks is replaced; calls report the errors that concern them. A server may also end a
 * connection right after it says that it is ready, before a call has it.
 * Throws `CrawlError('package-missing')` where the optional package is not installed.
 */
export function openPool(options: PgOptions, load: LoadPackage = loadPackage): PgPool {
  const { Pool } = load('pg', 'PostgreSQL').module as {
    Pool: new (options: PgOptions & { readonly stream: () => Socket }) => PgPool;
  };
  const pool = new Pool({ ...options, stream: () => new CatchingSocket() });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
