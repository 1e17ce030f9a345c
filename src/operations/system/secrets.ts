import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';

/** Place of a secret, as read by `core/config/secret-ref.ts`. */
type SecretRef = { readonly env: string } | { readonly file: string };

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that paths are relative to. */
  readonly baseDir: string;
}

/**
 * The secret, without white space at its ends (a file ends with a line end). Throws `config-invalid`; its message has
 * `what` and the place of the secret, never its value.
 */
export function readSecret(ref: SecretRef, what: string, sources: SecretSources): string {
  const [from, text] = 'env' in ref ? fromEnvironment(ref.env, sources) : fromFile(ref.file, what, sources);
  const secret = text.trim();
  const fault =
    secret === '' ? 'is not set, or is empty' : /^[^\p{Cc}]+$/u.test(secret) ? null : 'is not one line of text';
  if (fault !== null) throw new CrawlError('config-invalid', `${what}: ${from} ${fault}; expected the secret there`);
  return secret;
}

const fromEnvironment = (name: string, { env }: SecretSources): [string, string] => [
  `the variable ${name} of the environment`,
  env[name] ?? '',
];

function fromFile(path: string, what: string, { baseDir }: SecretSources): [string, string] {
  return [`the file ${path}`, readConfiguredFile(path, what, baseDir).toString('utf8')];
}

/** A file that the configuration names. Throws `config-invalid`. */
export function readConfiguredFile(path: string, what: string, baseDir: string): Buffer {
  const file = resolve(baseDir, path);
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown fault';
    throw new CrawlError('config-invalid', `${what}: ${file} cannot be read (${code})`, { cause });
  }
}
