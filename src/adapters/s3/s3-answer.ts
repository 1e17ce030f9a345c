import { CrawlError } from '../../domain/errors.ts';

/** An answer of the service, read whole. */
export interface S3Answer {
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

/** The text of the first element of a name; its entities stay, as names and numbers have none. */
export function elementOf({ body }: S3Answer, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(body.toString('utf8'))?.[1] ?? '';
}

/** Codes that come with a status of their own kind, and pass. */
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
export function isPassing(answer: S3Answer): boolean {
  const { status } = answer;
  if (status === 408 || status === 429) return true;
  if (status === 501 || status === 505) return false;
  return status >= 500 || (status >= 400 && PASSING_CODES.has(codeOf(answer)));
}

/** Whether the credentials have ended, so that newer ones may be in their file. */
export const isExpired = (answer: S3Answer): boolean => /^(?:ExpiredToken|TokenRefreshRequired)$/.test(codeOf(answer));

/** What to do about an answer that no repetition helps. */
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

/** @param what was asked, such as `PUT s3://bucket/key` */
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
