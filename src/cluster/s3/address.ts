// cluster/s3/: objects in a store that speaks the API of Amazon S3.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';

/** Keys that sign requests. Never shown: not in messages, logs or dumps. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Credentials where the AWS tools look for them: in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
 * `AWS_SESSION_TOKEN`, else in the file `AWS_SHARED_CREDENTIALS_FILE` or `~/.aws/credentials`, under the name
 * `AWS_PROFILE` or `default`. The file is read each time, because short-lived credentials are renewed there. Throws
 * `config-invalid` if there are none.
 */
export function readCredentials(env: Environment): Credentials {
  const named = credentialsOf({
    aws_access_key_id: env.AWS_ACCESS_KEY_ID,
    aws_secret_access_key: env.AWS_SECRET_ACCESS_KEY,
    aws_session_token: env.AWS_SESSION_TOKEN,
  });
  if (named !== null) return named;
  const file = env.AWS_SHARED_CREDENTIALS_FILE || join(env.HOME || homedir(), '.aws', 'credentials');
  const profile = env.AWS_PROFILE || 'default';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw missing(`${file} cannot be read`);
  }
  const read = credentialsOf(profileIn(text, profile));
  if (read === null) throw missing(`${file} has none under [${profile}]`);
  return read;
}

function credentialsOf(fields: Readonly<Record<string, string | undefined>>): Credentials | null {
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token } = fields;
  if (!id || !secret) return null;
  return { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) };
}

/** The fields of a section of an INI file. */
function profileIn(text: string, profile: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let isInside = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*(?:profile\s+)?(.+?)\s*\]/.exec(line);
    if (section !== null) isInside = section[1] === profile;
    const field = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(line);
    if (isInside && field !== null) fields[field[1] as string] = field[2] as string;
  }
  return fields;
}

function missing(file: string): CrawlError {
  return new CrawlError(
    'config-invalid',
    'no credentials for the object store: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, nor ' +
      `a file of credentials (${file}; AWS_SHARED_CREDENTIALS_FILE names another one)`,
  );
}

/** A bucket and the prefix of the keys in it: with a slash at its end, or empty. */
export interface BucketPlace {
  readonly bucket: string;
  readonly prefix: string;
}

export interface EndpointOptions {
  /** Endpoint of the service; empty: that of AWS in the region. */
  readonly endpoint: string;
  readonly region: string;
  /** `auto`: the bucket is the first segment of the path, except at AWS, where it is the first label of the host. */
  readonly pathStyle: 'auto' | 'always' | 'never';
}

/** Throws `usage-invalid` unless it is `s3://bucket/prefix`. */
export function bucketPlace(url: string): BucketPlace {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/+(.*))?$/.exec(url);
  const prefix = found?.[2]?.replace(/\/+$/, '') ?? '';
  if (found === null || prefix.split('/').some(isRelative)) {
    throw new CrawlError('usage-invalid', `expected a place such as s3://bucket/prefix, got "${url}"`);
  }
  return { bucket: found[1] as string, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Segments that the path of a URL cannot hold. */
const isRelative = (part: string): boolean => part === '.' || part === '..';

/** The URL of a bucket, with a slash at its end. Throws `config-invalid` if the endpoint is not an http(s) URL. */
export function bucketUrl(bucket: string, { endpoint, region, pathStyle }: EndpointOptions): string {
  const base = endpoint === '' ? `https://s3.${region}.amazonaws.com` : endpoint;
  let url: URL;
  try {
    url = new URL(base);
  } catch {
    throw invalidEndpoint(base);
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') throw invalidEndpoint(url.origin);
  // The certificate of AWS covers one label before the host.
  const isInPath = pathStyle === 'always' || (pathStyle === 'auto' && (endpoint !== '' || bucket.includes('.')));
  const path = url.pathname.replace(/\/+$/, '');
  return isInPath ? `${url.origin}${path}/${bucket}/` : `${url.protocol}//${bucket}.${url.host}${path}/`;
}

function invalidEndpoint(endpoint: string): CrawlError {
  const wanted = 'an address such as https://s3.example.org:9000, without name and password';
  return new CrawlError('config-invalid', `the endpoint of the object store is "${endpoint}"; expected ${wanted}`);
}

/** A key as the path of a URL. */
export function keyPath(key: string): string {
  if (key.split('/').some(isRelative)) {
    throw new CrawlError('usage-invalid', `"${key}" cannot be the key of an object: "." and ".." are no names`);
  }
  return key.split('/').map(encoded).join('/');
}

/** Encoded as AWS signatures require: all characters except unreserved ones (RFC 3986). */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** A query in the order and encoding of AWS signatures. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  const parts = Object.entries(parameters).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return parts.length === 0 ? '' : `?${parts.sort().join('&')}`;
}
