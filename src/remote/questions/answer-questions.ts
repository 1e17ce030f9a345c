import type { Socket } from 'node:net';
import { CrawlError } from '../../core/domain/errors.ts';
import { COMMANDS, type CommandName, nothingToSteer, type SteeredCrawler } from '../../operations/steer/steering.ts';
import { type CrawlReader, QUESTIONS, type Question } from '../../query/questions.ts';
import { type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';
import {
  type CommandMessage,
  errorLine,
  lineOf,
  MAX_QUESTION,
  PROTOCOL_VERSION,
  type QuestionMessage,
} from './protocol.ts';

/** A client that sends no question is disconnected after this time, ms. */
const PATIENCE_MS = 5_000;
/** Time for answers under way to finish before the crawl db is closed, ms. */
const GRACE_MS = 1_000;

/** Path of the socket of the process that holds the crawl db of a state directory. */
export const questionsPath = (dir: string): string => socketPath(dir, 'db');

/** The object that answers; commands are refused if the process cannot crawl. */
export type Answering = CrawlReader & Partial<SteeredCrawler>;

/**
 * Answers the questions and commands of other processes of the same user until it is closed. Closing resolves once no
 * answer reads the crawl db any more: answers that take longer than `graceMs` are cut short, and their readers get an
 * error.
 */
export async function answerQuestions(
  path: string,
  asked: Answering,
  graceMs: number = GRACE_MS,
): Promise<LocalSocket> {
  const closing = new AbortController();
  const answers = new Set<Promise<void>>();
  let isClosing = false;
  const socket = await listenLocally(path, (client) => {
    if (isClosing) {
      client.destroy();
      return;
    }
    const answer = answerOne(client, asked, closing.signal).finally(() => answers.delete(answer));
    answers.add(answer);
  });
  return {
    async close() {
      isClosing = true;
      const timer = setTimeout(() => closing.abort(), graceMs);
      await Promise.all(answers);
      clearTimeout(timer);
      await socket.close();
    },
  };
}

/** Never rejects. */
async function answerOne(client: Socket, reader: Answering, closing: AbortSignal): Promise<void> {
  try {
    const asked = await questionOf(client, closing);
    if (asked === null) return;
    const lines = 'tell' in asked ? obeyed(reader, asked) : linesFor(reader, asked, closing);
    for await (const line of lines) {
      if (client.destroyed) return;
      if (!client.write(line)) await eventOf(client, ['drain', 'close'], closing);
    }
  } catch (error) {
    if (!client.destroyed) client.write(errorLine(error));
  } finally {
    client.end();
  }
}

/** Resolves at the first of the events, or when the signal aborts. */
function eventOf(client: Socket, events: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) client.removeListener(event, done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    for (const event of events) client.once(event, done);
    signal.addEventListener('abort', done);
    if (client.destroyed || signal.aborted) done();
  });
}

/** The question of a client; `null` if it sends none in time. */
async function questionOf(client: Socket, closing: AbortSignal): Promise<QuestionMessage | CommandMessage | null> {
  let text = '';
  const read = (part: string): void => {
    text += part;
  };
  client.setEncoding('utf8');
  client.setTimeout(PATIENCE_MS, () => client.destroy());
  client.on('data', read);
  while (!text.includes('\n') && text.length <= MAX_QUESTION && !client.destroyed && !closing.aborted) {
    await eventOf(client, ['data', 'end', 'close'], closing);
    if (client.readableEnded) break;
  }
  client.removeListener('data', read);
  client.setTimeout(0);
  // Further data is ignored but must be read: otherwise the end of the stream is not seen.
  client.resume();
  if (text.length > MAX_QUESTION) throw new CrawlError('usage-invalid', 'the question is too long');
  const end = text.indexOf('\n');
  return end < 0 ? null : parsed(text.slice(0, end));
}

function parsed(line: string): QuestionMessage | CommandMessage {
  let question: Partial<QuestionMessage & CommandMessage>;
  try {
    question = JSON.parse(line) as Partial<QuestionMessage & CommandMessage>;
  } catch (cause) {
    throw new CrawlError('usage-invalid', 'the question is not JSON', { cause });
  }
  const { incrawl, ask, tell, args } = question ?? {};
  if (incrawl !== PROTOCOL_VERSION) {
    throw new CrawlError('usage-invalid', `the running process answers protocol ${PROTOCOL_VERSION}, not ${incrawl}`);
  }
  if (typeof tell === 'string' && Object.hasOwn(COMMANDS, tell) && Array.isArray(args)) return { incrawl, tell, args };
  if (typeof ask !== 'string' || !Object.hasOwn(QUESTIONS, ask) || !Array.isArray(args)) {
    const what = tell === undefined ? `question "${String(ask)}"` : `command "${String(tell)}"`;
    throw new CrawlError('usage-invalid', `the running process does not know the ${what}`);
  }
  return { incrawl, ask, args };
}

async function* obeyed(crawler: Answering, { tell, args }: CommandMessage): AsyncGenerator<string> {
  if (!isSteered(crawler)) throw nothingToSteer();
  const command = COMMANDS[tell as CommandName] as (crawler: SteeredCrawler, ...args: unknown[]) => Promise<unknown>;
  yield lineOf({ end: await command(crawler, ...args) });
}

const isSteered = (crawler: Answering): crawler is CrawlReader & SteeredCrawler => crawler.steering !== undefined;

async function* linesFor(
  reader: CrawlReader,
  { ask, args }: QuestionMessage,
  closing: AbortSignal,
): AsyncGenerator<string> {
  const question = ask as Question;
  // JSON has no `undefined`.
  const given = args.map((arg) => arg ?? undefined);
  const method = reader[question] as (...args: unknown[]) => unknown;
  const answer = method(...given);
  if (QUESTIONS[question].kind === 'value') {
    yield lineOf({ end: (await answer) ?? null });
    return;
  }
  const items = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await items.next();
      if (step.done) return yield lineOf({ end: step.value ?? null });
      if (closing.aborted) throw new CrawlError('holder-gone', 'the process that was answering has ended');
      yield lineOf({ item: step.value });
    }
  } finally {
    await items.return?.();
  }
}
