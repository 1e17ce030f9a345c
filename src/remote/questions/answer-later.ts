// remote/questions/: questions to the process that holds the crawl db, over a local socket.

import type { CrawlReader } from '../../query/questions.ts';
import type { LocalSocket } from '../local-socket.ts';

/** A read that takes longer than this (a dump into a pager) must not block other processes, ms. */
const LATE_MS = 500;

export interface LateAnswers {
  /** To be called once the crawl db is open: before that the socket may belong to another process. */
  start(reader: CrawlReader): void;
  close(): Promise<void>;
}

/** Answers other processes once the crawl db has been open for a while; most commands end before that. */
export function lateAnswers(dir: string): LateAnswers {
  let timer: NodeJS.Timeout | undefined;
  let serving: Promise<LocalSocket | null> | null = null;
  const serve = async (reader: CrawlReader): Promise<LocalSocket | null> => {
    const { answerQuestions, questionsPath } = await import('./answer-questions.ts');
    // Without a socket other processes get `db-locked`, which names this process.
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
