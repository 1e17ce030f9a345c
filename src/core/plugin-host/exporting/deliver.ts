import { createHmac } from 'node:crypto';
import {
  retryAfterMs,
  retryPauseMs,
  type SignedMessage,
  webhookHeaders as standardHeaders,
  type WebhookSender,
} from '../../domain/delivery/delivery-terms.ts';

/** Headers of a signed message by "Standard Webhooks" (https://www.standardwebhooks.com). */
export function webhookHeaders(message: SignedMessage, sender: WebhookSender): Record<string, string> {
  return standardHeaders(message, sender, (key, text) => createHmac('sha256', key).update(text).digest('base64'));
}

export interface DeliveryOptions {
  readonly url: string;
  /** Headers of an attempt that begins at a time, ms since the epoch. */
  readonly headers: (at: number) => Readonly<Record<string, string>>;
  readonly body: string;
  /** Attempts after the first. */
  readonly retries: number;
  /** For one attempt, answer included, ms. */
  readonly timeoutMs: number;
  /** The pause before the first retry, ms; it doubles with each. */
  readonly firstPauseMs: number;
}

/** Clock, randomness and timer of a delivery, for tests. */
export interface DeliveryDeps {
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface DeliveryAnswer {
  readonly status: number;
  readonly text: string;
}

/** A delivery that was not accepted. */
export class DeliveryError extends Error {
  /** The last answer; `null` without one. */
  readonly answer: DeliveryAnswer | null;

  constructor(message: string, answer: DeliveryAnswer | null) {
    super(message);
    this.name = 'DeliveryError';
    this.answer = answer;
  }
}

const WORLD: DeliveryDeps = {
  now: Date.now,
  random: Math.random,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Longest pause between two attempts, also where a server asks for more, ms. */
const MAX_PAUSE_MS = 60_000;
/** Longest answer that is read, characters. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/** Whether a status is transient, and the request worth a retry. */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Exponential backoff with jitter: half of each pause is random, so that many senders do not retry at once. */
export function pauseMs(attempt: number, firstPauseMs: number, random: () => number): number {
  return retryPauseMs({ attempt, firstMs: firstPauseMs, longestMs: MAX_PAUSE_MS, retryAfterMs: null }, random);
}

/**
 * Sends a body by POST, with retries after broken connections, 408, 429 and 5xx. `Retry-After` is obeyed. Redirects are
 * not followed, so that the body reaches no other address. Resolves with the answer when it is 2xx; otherwise rejects
 * with a {@link DeliveryError} that names status and answer.
 */
export async function deliver(options: DeliveryOptions, deps: DeliveryDeps = WORLD): Promise<DeliveryAnswer> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await attemptOf(options, deps.now());
    if ('status' in outcome && outcome.status >= 200 && outcome.status < 300) return outcome;
    const mayPass = 'fault' in outcome || isPassing(outcome.status);
    if (!mayPass || attempt >= options.retries) {
      throw new DeliveryError(reasonOf(options.url, outcome, attempt + 1), 'status' in outcome ? outcome : null);
    }
    const asked = 'retryAfterMs' in outcome ? outcome.retryAfterMs : null;
    const terms = { attempt, firstMs: options.firstPauseMs, longestMs: MAX_PAUSE_MS, retryAfterMs: asked };
    await deps.sleep(retryPauseMs(terms, deps.random));
  }
}

type Outcome = (DeliveryAnswer & { readonly retryAfterMs: number | null }) | { readonly fault: string };

async function attemptOf({ url, headers, body, timeoutMs }: DeliveryOptions, at: number): Promise<Outcome> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, { method: 'POST', headers: headers(at), body, redirect: 'manual', signal });
    const asked = retryAfterMs(answer.headers.get('retry-after'), at);
    return { status: answer.status, text: await textOf(answer), retryAfterMs: asked };
  } catch (error) {
    if (!(error instanceof Error)) return { fault: String(error) };
    if (error.name === 'TimeoutError') return { fault: `no answer within ${timeoutMs} ms` };
    return { fault: error.cause instanceof Error ? error.cause.message : error.message };
  }
}

async function textOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) throw new Error(`an answer of more than ${MAX_ANSWER_CHARS} characters`);
  }
  return text + decoder.decode();
}

function reasonOf(url: string, outcome: Outcome, attempts: number): string {
  // The query of an address may hold a secret.
  const { origin, pathname } = new URL(url);
  const tries = attempts === 1 ? '' : ` (${attempts} attempts)`;
  if ('fault' in outcome) return `${origin}${pathname}: ${outcome.fault}${tries}`;
  const said = outcome.text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .slice(0, 300)
    .trim();
  return `${origin}${pathname} answered ${outcome.status}${tries}${said === '' ? '' : `: ${said}`}`;
}

/** The target: `--output`, else the option. Throws an `Error` unless it is an http(s) URL without user and password. */
export function addressOf(place: string | null, configured: string | undefined): URL {
  const given = place ?? configured;
  if (given === undefined) throw new Error('an address is needed: give --output URL, or set the option url');
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new Error(`expected an address such as https://example.org/, got "${given}"`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`expected an http or https address, got "${given}"`);
  }
  if (url.username !== '' || url.password !== '')
    throw new Error('expected an address with no name and password in it');
  return url;
}
