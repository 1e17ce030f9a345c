import type { Log } from '../../render/log.ts';
import { type Answering, answerQuestions, questionsPath } from './answer-questions.ts';

/**
 * Answers questions of other processes while `work` runs. On a file system without sockets only the work is done.
 */
export async function answerMeanwhile<Value>(
  dir: string,
  reader: Answering,
  work: () => Promise<Value>,
  log: () => Promise<Pick<Log, 'warn'>>,
): Promise<Value> {
  const path = questionsPath(dir);
  const socket = await answerQuestions(path, reader).catch(async (error: unknown) => {
    (await log()).warn('other processes cannot ask this one', { path, error: String(error) });
    return null;
  });
  try {
    return await work();
  } finally {
    await socket?.close();
  }
}
