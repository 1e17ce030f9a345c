import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Delivery } from '../../core/ports/change-feed.ts';
import { createWebhook, webhookFault } from '../changes/webhook-delivery.ts';
import { mailMessage } from './mail-message.ts';
import type { WatchEvent, WatchKind } from './page-verdict.ts';

/** An event as receivers get it. */
export interface ReportedChange extends WatchEvent {
  /** The event in one line. */
  readonly summary: string;
  /** Words removed and added, as `git diff --word-diff` writes them; empty where nothing was compared. */
  readonly diff: string;
}

/** Somebody who is told of changes. */
export interface Receiver {
  /** Names it in the state directory: addresses of webhooks are secrets, so a digest. */
  readonly key: string;
  /** For messages about failures. */
  readonly name: string;
  /** Most changes in a message. */
  readonly batch: number;
  wants(kind: WatchKind): boolean;
  /** One attempt; never rejects because of the receiver. `id` is the same in every attempt. */
  deliver(id: string, changes: readonly ReportedChange[], signal: AbortSignal): Promise<Delivery>;
}

export interface ReceiverOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Key of the signatures of webhooks; `null`: they go unsigned. */
  readonly secret: string | null;
  readonly now: () => number;
}

/** Longest time for an attempt, ms. */
const TIMEOUT_MS = 60_000;
/** Environment variables have at most 128 KiB on Linux. */
const VARIABLE_CHARS = 30_000;
/** Programs that mail servers install are there, which is not in the path of everybody. */
const SENDMAIL_FOLDERS = ['/usr/sbin', '/usr/lib'];

/**
 * The receiver behind a word of `--notify`: a webhook for `http:` and `https:`, mail for `mailto:`, else a command for
 * the shell. Throws `usage-invalid` for an address that cannot be used, and for mail without a program that sends it.
 */
export function receiverOf(word: string, options: ReceiverOptions): Receiver {
  const key = createHash('sha256').update(word).digest('hex').slice(0, 32);
  const wants = (kind: WatchKind): boolean => kind !== 'new';
  if (/^https?:/i.test(word)) return { key, name: 'the webhook', batch: 100, wants, deliver: webhook(word, options) };
  if (/^mailto:/i.test(word)) return { key, name: word, batch: 100, wants, deliver: mail(word, options) };
  return { key, name: `the command "${word}"`, batch: 1, wants, deliver: command(word, options) };
}

function webhook(url: string, { secret, now }: ReceiverOptions): Receiver['deliver'] {
  const fault = webhookFault(url);
  if (fault !== null) throw new CrawlError('usage-invalid', `--notify: ${fault}`);
  const userAgent = `incrawl/${packageVersion()}`;
  const sender = createWebhook({ url, secret, userAgent, timeoutMs: TIMEOUT_MS });
  return (id, changes, signal) => {
    const at = now();
    const timestamp = new Date(at).toISOString();
    const body = JSON.stringify({ type: 'incrawl.watch', timestamp, data: { changes } });
    return sender.deliver({ id, at, body }, signal);
  };
}

function mail(word: string, { env }: ReceiverOptions): Receiver['deliver'] {
  const to = word.slice('mailto:'.length);
  if (!/^[^\s,;<>@?]+@[^\s,;<>@?]+(?:,[^\s,;<>@?]+@[^\s,;<>@?]+)*$/.test(to)) {
    throw new CrawlError('usage-invalid', `--notify: expected mailto:person@example.org, got "${word}"`);
  }
  const folders = [...(env.PATH ?? '').split(delimiter), ...SENDMAIL_FOLDERS];
  const program = folders.map((folder) => join(folder, 'sendmail')).find(isProgram);
  if (program === undefined) {
    throw new CrawlError(
      'usage-invalid',
      `--notify ${word}: mail is sent by the program sendmail, which is not installed; the packages postfix, exim4, ` +
        'msmtp-mta and nullmailer have one',
    );
  }
  return (_id, changes, signal) => runProgram(program, ['-t', '-i'], mailMessage(to, changes), { env, signal });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function command(word: string, { env }: ReceiverOptions): Receiver['deliver'] {
  if (word.trim() === '') throw new CrawlError('usage-invalid', '--notify: expected a command, a URL or mailto:');
  return (_id, [change], signal) => {
    if (change === undefined) throw new TypeError('a command is told of one change');
    const { kind, url, title, summary, diff } = change;
    const variables = { KIND: kind, URL: url, TITLE: title ?? '', SUMMARY: summary, DIFF: diff };
    const own = Object.entries(variables).map(([name, text]) => [
      `INCRAWL_${name}`,
      text.replaceAll('\0', '').slice(0, VARIABLE_CHARS),
    ]);
    const given = { ...env, ...Object.fromEntries(own) };
    return runProgram(word, [], `${JSON.stringify(change)}\n`, { env: given, signal, shell: true });
  };
}

/** Runs a program with this input; what it prints goes to stderr. Exit code 0 is success. */
function runProgram(
  program: string,
  args: readonly string[],
  input: string,
  { env, signal, shell = false }: Pick<ReceiverOptions, 'env'> & { signal: AbortSignal; shell?: boolean },
): Promise<Delivery> {
  const failed = (reason: string): Delivery => ({
    ...{ isTaken: false, status: null, reason, retryAfterMs: null, isFinal: false },
  });
  return new Promise((resolve) => {
    // A process group of its own, so that the end reaches what the shell has started.
    const child = spawn(program, args, { env: { ...env }, shell, detached: true, stdio: ['pipe', 2, 2] });
    let why: string | null = null;
    const end = (reason: string): void => {
      why = reason;
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const timer = setTimeout(() => end(`no end within ${TIMEOUT_MS / 1_000} s`), TIMEOUT_MS);
    const onAbort = (): void => end('stopped by a signal');
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = (delivery: Delivery): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(delivery);
    };
    child.on('error', (error) => settle(failed(error.message)));
    child.on('close', (code, by) => {
      if (code === 0) settle({ isTaken: true, status: 0 });
      else settle(failed(why ?? (code === null ? `ended by ${by}` : `exit code ${code}`)));
    });
    // It may end without reading its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}
