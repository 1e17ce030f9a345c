import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/** Who signs requests. Never shown: not in messages, logs or dumps. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Credentials as the tools of AWS find them: in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`,
 * else in the file `AWS_SHARED_CREDENTIALS_FILE` or `~/.aws/credentials`, under the name `AWS_PROFILE` or `default`.
 * The file is read each time, as short-lived credentials are renewed there. Throws `config-invalid` where there are
 * none.
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
