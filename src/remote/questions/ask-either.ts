import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import type { CrawlReader } from '../../query/questions.ts';

/** Time that a process that has just taken the crawl db needs until it answers, ms. */
const PATIENCE_MS = 1_500;
const PAUSE_MS = 100;
/** A holder that is silent for this long is reported, ms: it may be suspended, and the wait would look like a hang. */
const SILENCE_MS = 10_000;

export interface Waiting {
  /** Called if a holder does not answer for a long time. */
  readonly onSilence: (message: string) => void;
  readonly silenceMs?: number;
  /** Longest time that a holder may take until it first answers. */
  readonly patienceMs?: number;
}

/**
 * Opens the crawl db and puts the question to it; if another process holds it, puts the question to that process.
 * Rejects with `db-locked` if that process does not answer.
 * @param here opens the crawl db while `use` runs
 */
export async function askEither<Value>(
  dir: string,
  here: (use: (reader: CrawlReader) => Promise<Value>) => Promise<Value>,
  use: (reader: CrawlReader) => Promise<Value>,
  waiting: Waiting,
): Promise<Value> {
  const startedAt = performance.now();
  for (;;) {
    const asked = await tried(() => here(use), 'db-locked');
    if ('value' in asked) return asked.value;
    const { findHolder } = await import('./ask-holder.ts');
    const { questionsPath } = await import('./answer-questions.ts');
    const holder = await findHolder(questionsPath(dir));
    if (holder !== null) {
      const answered = await reportingSilence(waiting, holder.hasAnswered, () =>
        tried(() => use(holder.reader), 'holder-gone'),
      );
      if ('value' in answered) return answered.value;
      // No part of the answer has arrived: the next holder of the crawl db answers from the start.
      if (holder.hasAnswered()) throw answered.error;
    }
    if (performance.now() - startedAt > (waiting.patienceMs ?? PATIENCE_MS)) throw asked.error;
    const { askToGiveWay } = await import('../viewer/give-way.ts');
    if ((await askToGiveWay(dir)) !== null) continue;
    await delay(PAUSE_MS);
  }
}

async function reportingSilence<Value>(
  { onSilence, silenceMs = SILENCE_MS }: Waiting,
  hasAnswered: () => boolean,
  ask: () => Promise<Value>,
): Promise<Value> {
  const timer = setTimeout(() => {
    if (!hasAnswered())
      onSilence(
        'The process that has the crawl db has not answered so far; it may be busy, or stopped. Waiting for it.',
      );
  }, silenceMs);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
  }
}

async function tried<Value>(
  ask: () => Promise<Value>,
  code: 'db-locked' | 'holder-gone',
): Promise<{ readonly value: Value } | { readonly error: CrawlError }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof CrawlError && error.code === code) return { error };
    throw error;
  }
}
