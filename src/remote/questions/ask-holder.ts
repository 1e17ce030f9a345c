import { connect, type Socket } from 'node:net';
import { CrawlError } from '../../core/domain/errors.ts';
import type { CommandAnswer, CommandName } from '../../operations/steer/steering.ts';
import { type CrawlReader, QUESTIONS } from '../../query/questions.ts';
import { isAbsent } from '../local-socket.ts';
import {
  type AnswerLine,
  type CommandMessage,
  errorOf,
  lineOf,
  PROTOCOL_VERSION,
  type QuestionMessage,
} from './protocol.ts';

/** Puts questions to the process that holds the crawl db. */
export interface Holder {
  readonly reader: CrawlReader;
  /** Whether part of an answer has arrived: then the question cannot be put to another process. */
  hasAnswered(): boolean;
}

/**
 * Resolves with `null` if no process listens there.
 * @param patienceMs a question to a holder that is silent this long, such as a suspended one, rejects with
 *   `holder-gone`; 0: no limit
 */
export async function findHolder(path: string, patienceMs = 0): Promise<Holder | null> {
  const first = await open(path);
  if (first === null) return null;
  first.destroy();
  let hasAnswered = false;
  const onItem = (): void => {
    hasAnswered = true;
  };
  const methods = Object.entries(QUESTIONS).map(([name, { kind }]) => {
    const stream = (...args: unknown[]) =>
      answerOf({ path, patienceMs, onItem }, { incrawl: PROTOCOL_VERSION, ask: name, args });
    return [name, kind === 'stream' ? stream : (...args: unknown[]) => lastWord(stream(...args))];
  });
  return { reader: Object.fromEntries(methods) as unknown as CrawlReader, hasAnswered: () => hasAnswered };
}

/**
 * Sends a command to the process that holds the crawl db; resolves once it is done. Rejects with `run-missing` if the
 * process does not crawl, and with `holder-gone` if none listens, or it ends meanwhile.
 * @param patienceMs as for {@link findHolder}
 */
export async function tellHolder<Name extends CommandName>(
  path: string,
  tell: Name,
  args: readonly unknown[],
  patienceMs = 0,
): Promise<CommandAnswer<Name>> {
  const message = { incrawl: PROTOCOL_VERSION, tell, args };
  return (await lastWord(answerOf({ path, patienceMs, onItem: () => {} }, message))) as CommandAnswer<Name>;
}

async function lastWord(answer: AsyncGenerator<unknown, unknown, undefined>): Promise<unknown> {
  const step = await answer.next();
  if (step.done) return step.value;
  await answer.return(undefined);
  throw new CrawlError('internal', 'the running process answered with a list');
}

/** The items of an answer as they arrive. The socket is read no faster than the items are consumed. */
async function* answerOf(
  { path, patienceMs, onItem }: { readonly path: string; readonly patienceMs: number; readonly onItem: () => void },
  message: QuestionMessage | CommandMessage,
): AsyncGenerator<unknown, unknown, undefined> {
  const socket = await open(path);
  if (socket === null) throw gone();
  socket.setTimeout(patienceMs, () => socket.destroy(silent()));
  try {
    socket.write(lineOf(message));
    for await (const line of linesOf(socket)) {
      const answer = JSON.parse(line) as AnswerLine;
      if ('error' in answer) throw errorOf(answer.error);
      if ('end' in answer) return answer.end;
      onItem();
      yield answer.item;
    }
    throw gone();
  } finally {
    socket.destroy();
  }
}

const gone = (): CrawlError =>
  new CrawlError('holder-gone', 'the running process that was answering has ended; ask again');

const silent = (): CrawlError =>
  new CrawlError('holder-gone', 'the running process that has the crawl db does not answer; it may be stopped');

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let rest = '';
  socket.setEncoding('utf8');
  try {
    for await (const part of socket as AsyncIterable<string>) {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    // A process that is killed resets its connections.
    throw (error as NodeJS.ErrnoException).code === undefined ? error : gone();
  }
}

/** `null`: no process listens there. */
function open(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeListener('error', onError);
      resolve(socket);
    });
    const onError = (error: NodeJS.ErrnoException): void => (isAbsent(error) ? resolve(null) : reject(error));
    socket.once('error', onError);
  });
}
