import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, request as send } from 'undici';
import { retryAfterMs, retryPauseMs } from '../../core/domain/delivery/delivery-terms.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { type Clock, elapsedOf } from '../../core/ports/clock.ts';
import type { FilePart, ObjectContent } from '../../core/ports/objects/object-store.ts';
import {
  type BucketPlace,
  bucketUrl,
  type Credentials,
  type EndpointOptions,
  type Environment,
  keyPath,
  queryOf,
  readCredentials,
} from './address.ts';

/** A response of the service, read to its end. */
interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export const fieldOf = ({ headers }: S3Answer, name: string): string | null => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
};

/** The code in the XML of an error, such as `SlowDown`; empty without one, as after HEAD. */
export const codeOf = (answer: S3Answer): string => elementOf(answer, 'Code');

/** The text of the first element of a name. Entities stay: names and numbers contain none. */
export function elementOf({ body }: S3Answer, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(body.toString('utf8'))?.[1] ?? '';
}

/** Codes of transient errors whose status alone does not show that. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  // 400: the body stalled or was altered on its way.
  'RequestTimeout',
  'IncompleteBody',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  // 409: another conditional write of the same key is under way.
  'ConditionalRequestConflict',
  'OperationAborted',
]);

/** Whether the same request may succeed later. */
function isPassing(answer: S3Answer): boolean {
  const { status } = answer;
  if (status === 408 || status === 429) return true;
  if (status === 501 || status === 505) return false;
  return status >= 500 || (status >= 400 && PASSING_CODES.has(codeOf(answer)));
}

/** Whether the credentials have expired, so that newer ones may be in their file. */
const isExpired = (answer: S3Answer): boolean => /^(?:ExpiredToken|TokenRefreshRequired)$/.test(codeOf(answer));

/** What the user can do about an error that no retry helps. */
const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket: create it, or correct its name in the configuration',
  AccessDenied: 'the credentials do not allow this: the policy must allow to get, put, delete and list in this place',
  InvalidAccessKeyId: 'AWS_ACCESS_KEY_ID is not known there',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID, or s3.region is wrong',
  ExpiredToken: 'the credentials have expired: renew them',
  RequestTimeTooSkewed: 'the clock of this machine is wrong: set it',
  PermanentRedirect: 'the bucket lies in another region: set s3.region',
  TemporaryRedirect: 'the bucket lies in another region: set s3.region',
  AuthorizationHeaderMalformed: 'the bucket lies in another region: set s3.region',
  NotImplemented: 'the service lacks what is needed here, such as conditional writes',
  QuotaExceeded: 'the store is full',
  EntityTooLarge: 'the object is too large for the service',
};

/** @param what the request, such as `PUT s3://bucket/key` */
export function refusedError(what: string, answer: S3Answer): CrawlError {
  const code = codeOf(answer);
  const region = elementOf(answer, 'Region');
  const said = elementOf(answer, 'Message').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ');
  const byStatus = answer.status === 401 || answer.status === 403 ? 'check the credentials and what they allow' : '';
  const advice = ADVICE[code] ?? (byStatus || 'fix what it names, or ask the operator of the store');
  const named = [`${answer.status}`, code, said.slice(0, 200)].filter((text) => text !== '').join(' ');
  const hint = region !== '' && advice.includes('s3.region') ? ` (it names ${region})` : '';
  return new CrawlError('object-store-refused', `${what} was refused: ${named}; ${advice}${hint}`);
}

export interface S3Options extends EndpointOptions, BucketPlace {
  /** Time-out for the head of a response after its request, and between parts of its body, ms. */
  readonly timeoutMs: number;
  /** How long a request is retried while the service fails, ms. */
  readonly patienceMs: number;
  /** Size of the parts in which large files are written; default: 256 MiB. */
  readonly partBytes?: number;
}

export interface S3Deps {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly env: Environment;
}

interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Relative to the prefix; `null`: the bucket. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: ObjectContent;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether the condition of the request no longer holds; checked before a retry. Some servers refuse a body that they
   * have not read by closing the connection, so their response is never seen.
   */
  readonly isStale?: () => Promise<boolean>;
}

/** A response, and whether an earlier attempt that got no response may have been carried out. */
export interface Settled extends S3Answer {
  readonly isRepeated: boolean;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 20_000;
/** Slowest upload that is waited for, bytes per ms. */
const SLOWEST = 50;
const CONNECT_TIMEOUT_MS = 10_000;
/** Bytes of a file that are read at a time. */
const READ_BYTES = 1 << 20;
/** Connections that are kept for the next request, at most. */
const CONNECTIONS = 16;

/** Signed requests to one bucket (AWS Signature Version 4), repeated with pauses while the service fails. */
export class S3Requests {
  readonly name: string;
  readonly #options: S3Options;
  readonly #deps: S3Deps;
  readonly #url: string;
  readonly #agent: Agent;
  #credentials: Credentials | null = null;
  /** Keys derived from the secret, for a day each. */
  readonly #derived = new Map<string, ArrayBuffer>();

  constructor(options: S3Options, deps: S3Deps) {
    this.#options = options;
    this.#deps = deps;
    this.#url = bucketUrl(options.bucket, options);
    this.name = `s3://${options.bucket}/${options.prefix}`.replace(/\/$/, '');
    this.#agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, connections: CONNECTIONS });
  }

  /** Resolves with any answer that no repetition would change. Rejects with `object-store-unreachable`. */
  async settle(asked: S3Request): Promise<Settled> {
    const { clock, random } = this.#deps;
    const { patienceMs } = this.#options;
    const begunAt = elapsedOf(clock);
    const digest = await sha256Of(asked.content);
    let isRepeated = false;
    for (let attempt = 0; ; attempt++) {
      asked.signal?.throwIfAborted();
      const outcome = await this.#attempt(asked, digest);
      asked.signal?.throwIfAborted();
      if (!(outcome instanceof Error) && isExpired(outcome) && this.#renewed()) continue;
      if (!(outcome instanceof Error) && !isPassing(outcome)) return { ...outcome, isRepeated };
      isRepeated = true;
      const asking = outcome instanceof Error ? null : retryAfterMs(fieldOf(outcome, 'retry-after'), clock.now());
      const terms = { attempt, firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, retryAfterMs: asking };
      const pauseMs = retryPauseMs(terms, random);
      if (elapsedOf(clock) - begunAt + pauseMs > patienceMs) throw this.#unreachable(asked, outcome, attempt + 1);
      await clock.sleep(pauseMs, asked.signal);
      if (await asked.isStale?.()) return { status: 412, headers: {}, body: Buffer.alloc(0), isRepeated };
    }
  }

  /** As {@link settle}; rejects with `object-store-refused` unless the answer has one of these statuses. */
  async ask(asked: S3Request, statuses: readonly number[]): Promise<Settled> {
    const answer = await this.settle(asked);
    // Only a 404 for the object is accepted, not one for the bucket or the credentials.
    const isMeant = answer.status !== 404 || /^(?:NoSuchKey)?$/.test(codeOf(answer));
    if (statuses.includes(answer.status) && isMeant) return answer;
    throw refusedError(this.#what(asked), answer);
  }

  /** Does not wait for requests under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempt({ method, key, query, headers, content, signal }: S3Request, digest: string) {
    const path = key === null ? '' : keyPath(this.#options.prefix + key);
    const url = `${this.#url}${path}${queryOf(query ?? {})}`;
    const bytes = lengthOf(content);
    this.#credentials ??= readCredentials(this.#deps.env);
    const signed = await new AwsV4Signer({
      method,
      url,
      headers: { ...headers, 'x-amz-content-sha256': digest },
      ...this.#credentials,
      service: 's3',
      region: this.#options.region,
      cache: this.#derived,
      datetime: new Date(this.#deps.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    }).sign();
    const { timeoutMs } = this.#options;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error('the request took too long')), timeoutMs + bytes / SLOWEST);
    const abort = (): void => deadline.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const answer = await send(url, {
        method,
        dispatcher: this.#agent,
        headers: {
          ...Object.fromEntries(signed.headers),
          ...(bytesOfMethod(method) && { 'content-length': `${bytes}` }),
        },
        body: bodyOf(content),
        signal: deadline.signal,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      // From here on the time-out between parts of the body applies: a large response may take longer.
      clearTimeout(timer);
      const body = Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body } satisfies S3Answer;
    } catch (error) {
      return deadline.signal.aborted && deadline.signal.reason instanceof Error
        ? deadline.signal.reason
        : error instanceof Error
          ? error
          : new Error(String(error));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Whether the credentials have changed meanwhile. */
  #renewed(): boolean {
    const before = this.#credentials;
    this.#credentials = readCredentials(this.#deps.env);
    return (
      before?.accessKeyId !== this.#credentials.accessKeyId || before.sessionToken !== this.#credentials.sessionToken
    );
  }

  #what({ method, key }: S3Request): string {
    return `${method} ${key === null ? this.name : `s3://${this.#options.bucket}/${this.#options.prefix}${key}`}`;
  }

  #unreachable(asked: S3Request, outcome: S3Answer | Error, attempts: number): CrawlError {
    const reason =
      outcome instanceof Error
        ? reasonOf(outcome)
        : `it answered ${[outcome.status, codeOf(outcome)].join(' ').trim()}`;
    const message =
      `${this.#what(asked)} failed at ${new URL(this.#url).origin} ${attempts} times: ${reason}. ` +
      'Nothing that was stored is lost: run the command again when the store answers';
    return new CrawlError('object-store-unreachable', message, { cause: outcome });
  }
}

/** When all addresses of a host fail, the joint error has no text of its own. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0]);
  return error.message === '' ? error.name : error.message;
}

const bytesOfMethod = (method: S3Request['method']): boolean => method === 'PUT' || method === 'POST';

function lengthOf(content: ObjectContent | undefined): number {
  if (content === undefined) return 0;
  return content instanceof Uint8Array ? content.length : content.reduce((sum, { start, end }) => sum + end - start, 0);
}

function bodyOf(content: ObjectContent | undefined): Uint8Array | Readable | null {
  if (content === undefined || lengthOf(content) === 0) return null;
  return content instanceof Uint8Array ? content : Readable.from(bytesOf(content), { objectMode: false });
}

async function* bytesOf(parts: readonly FilePart[]): AsyncGenerator<Buffer> {
  for (const { file, start, end } of parts) {
    // `end` of the stream is inclusive.
    if (end > start)
      yield* createReadStream(file, { start, end: end - 1, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
  }
}

/** The service refuses a body with another digest: what arrives truncated or altered is never stored. */
export async function sha256Of(content: ObjectContent | undefined): Promise<string> {
  const hash = createHash('sha256');
  if (content instanceof Uint8Array) hash.update(content);
  else for await (const chunk of bytesOf(content ?? [])) hash.update(chunk);
  return hash.digest('hex');
}
