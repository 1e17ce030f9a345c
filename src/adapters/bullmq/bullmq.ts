// adapters/bullmq/: jobs by BullMQ, on Redis or PostgreSQL.
import { type LoadPackage, loadPackage } from '../../packages/load-package.ts';

/** The part of BullMQ 6 in use, declared here since the package is optional: incrawl is built without it. */

export interface BullJob<Data> {
  readonly id?: string;
  readonly data: Data;
  readonly failedReason?: string;
  /** Failed attempts. */
  readonly attemptsMade: number;
  readonly finishedOn?: number;
  getState(): Promise<string>;
  remove(options: { readonly removeChildren: boolean }): Promise<void>;
  moveToWait(token?: string): Promise<unknown>;
}

export interface BullJobOptions {
  readonly jobId: string;
  readonly attempts: number;
  readonly removeOnComplete: { readonly count: number };
  readonly removeOnFail: { readonly count: number };
}

/** Where the jobs lie. */
export interface BullConnection {
  /** A client of Redis that waits for a server that is away (`maxRetriesPerRequest: null`), or a pool of PostgreSQL. */
  readonly connection: unknown;
  /** Prefix of all keys in Redis. */
  readonly prefix?: string;
}

export interface BullQueue<Data> {
  add(name: string, data: Data, options: BullJobOptions): Promise<unknown>;
  getJob(id: string): Promise<BullJob<Data> | undefined>;
  getJobCounts(...states: string[]): Promise<Readonly<Record<string, number>>>;
  getFailed(first: number, last: number): Promise<readonly BullJob<Data>[]>;
  clean(graceMs: number, limit: number, state: 'completed' | 'failed'): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface BullWorker {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'lockRenewalFailed', listener: (ids: readonly string[]) => void): unknown;
  cancelJob(id: string): boolean;
  close(): Promise<void>;
}

export interface BullMq {
  readonly Queue: new <Data>(name: string, options: BullConnection) => BullQueue<Data>;
  readonly Worker: new <Data>(
    name: string,
    perform: (job: BullJob<Data>, token?: string, signal?: AbortSignal) => Promise<unknown>,
    options: BullConnection & {
      readonly concurrency: number;
      readonly lockDuration: number;
      readonly stalledInterval: number;
      readonly maxStalledCount: number;
      readonly drainDelay: number;
    },
  ) => BullWorker;
  readonly WaitingError: new () => Error;
  /** Classes of the same names on another backend. */
  readonly withBackend: (backend: unknown) => Pick<BullMq, 'Queue' | 'Worker'>;
  readonly createPostgresBackend: unknown;
  /** Makes the tables, or brings them up to date. */
  readonly runMigrations: (client: unknown, schema: string) => Promise<unknown>;
  readonly DEFAULT_SCHEMA: string;
}

/** Throws `CrawlError('package-missing')` where the optional package is not installed. */
export function loadBullMq(load: LoadPackage = loadPackage): BullMq {
  return load('bullmq', 'incrawl work').module as BullMq;
}
