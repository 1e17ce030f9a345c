import { retryAfterMs, retryPauseMs } from '../../domain/delivery/retry-pause.ts';

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

/** What a delivery needs of the world; the default is the world itself. */
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

const WORLD: DeliveryDeps = {
  now: Date.now,
  random: Math.random,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Longest pause between two attempts, also where a server asks for more, ms. */
const MAX_PAUSE_MS = 60_000;
/** Of an answer, characters: more is no answer that anybody expects. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/** Whether it is worth another try: the server is busy, or failed for now. */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Doubling pauses, half of each at random, so that many senders do not come at once. */
export function pauseMs(attempt: number, firstPauseMs: number, random: () => number): number {
  return retryPauseMs({ attempt, firstMs: firstPauseMs, longestMs: MAX_PAUSE_MS, retryAfterMs: null }, random);
}

/**
 * Sends a body by POST until it is answered, with pauses after what passes: broken connections, 408, 429 and 5xx.
 * `Retry-After` is minded. Redirects are not followed: a body that was meant for one address goes to no other. Resolves
 * with the answer when it is 2xx; rejects with an `Error` that says status and answer otherwise.
 */
export async function deliver(options: DeliveryOptions, deps: DeliveryDeps = WORLD): Promise<DeliveryAnswer> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await attemptOf(options, deps.now());
    if ('status' in outcome && outcome.status >= 200 && outcome.status < 300) return outcome;
    const mayPass = 'fault' in outcome || isPassing(outcome.status);
    if (!mayPass || attempt >= options.retries) throw new Error(reasonOf(options.url, outcome, attempt + 1));
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

/**
 * Where to send to: `--output`, else the option. Throws an `Error` for what is no web address, or has a password in it.
 */
export function addressOf(place: string | null, configured: string | undefined): URL {
  const given = place ?? configured;
  if (given === undefined) throw new Error('an address is needed: --output URL, or the option url');
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new Error(`a web address such as https://example.org/ was expected, got "${given}"`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`an address of http or https was expected, got "${given}"`);
  }
  if (url.username !== '' || url.password !== '') throw new Error('no name and password in the address, please');
  return url;
}
