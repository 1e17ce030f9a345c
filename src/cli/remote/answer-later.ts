import type { CrawlReader } from '../../operations/questions.ts';
import type { LocalSocket } from '../process/local-socket.ts';

/** A reader that takes longer than this (a dump into a pager) must not keep others from asking, ms. */
const LATE_MS = 500;

/** Answers what it can of others' questions when `work` takes long; one that is done in a moment makes no socket. */
export async function answerLater<Value>(
  dir: string,
  reader: Partial<CrawlReader>,
  work: () => Promise<Value>,
): Promise<Value> {
  let serving: Promise<LocalSocket | null> | null = null;
  const serve = async (): Promise<LocalSocket | null> => {
    const { answerQuestions, questionsPath } = await import('./answer-questions.ts');
    // Where no socket can be made others learn that the crawl db is held, and by whom.
    return answerQuestions(questionsPath(dir), reader).catch(() => null);
  };
  const timer = setTimeout(() => {
    serving = serve();
  }, LATE_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    await (await (serving as Promise<LocalSocket | null> | null))?.close();
  }
}
