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
 * An idle connection that breaks is replaced; calls report the errors that concern them. A server may also end a
 * connection right after it says that it is ready, before a call has it.
 * Throws `CrawlError('package-missing')` where the optional package is not installed.
 */
export function openPool(options: PgOptions, load: LoadPackage = loadPackage): PgPool {
  const { Pool } = load('pg', 'PostgreSQL').module as { Pool: new (options: PgOptions) => PgPool };
  const pool = new Pool(options);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
