import type { CrawlReader } from '../../operations/questions.ts';
import type { LocalSocket } from '../process/local-socket.ts';

/** A reader that takes longer than this (a dump into a pager) must not keep others from asking, ms. */
const LATE_MS = 500;

export interface LateAnswers {
  /** To be called when the crawl db is open: the socket of a process that still holds it must stay. */
  start(reader: CrawlReader): void;
  close(): Promise<void>;
}

/** Answers the questions of others from when the crawl db has been open for long; most commands are done before. */
export function lateAnswers(dir: string): LateAnswers {
  let timer: NodeJS.Timeout | undefined;
  let serving: Promise<LocalSocket | null> | null = null;
  const serve = async (reader: CrawlReader): Promise<LocalSocket | null> => {
    const { answerQuestions, questionsPath } = await import('./answer-questions.ts');
    // Where no socket can be made others learn that the crawl db is held, and by which process.
    return answerQuestions(questionsPath(dir), reader).catch(() => null);
  };
  return {
    start(reader) {
      timer = setTimeout(() => {
        serving = serve(reader);
      }, LATE_MS);
    },
    async close() {
      clearTimeout(timer);
      await (await serving)?.close();
    },
  };
}
