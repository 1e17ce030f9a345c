import { CrawlError, ERRORS, type ErrorCode } from '../../core/domain/errors.ts';

/**
 * How a process puts a question to the process that holds the crawl db, or sends it a command if it crawls: one
 * connection per question or command, with lines of JSON both ways.
 *
 *     -> {"incrawl":1,"ask":"records","args":[{"host":"example.org"}]}
 *     <- {"item":{..}}                                any number of them, of a streamed answer
 *     <- {"end":{..}}                                 the answer itself, or the return value of a stream
 *     <- {"error":{"code":"url-invalid","message":".."}}   instead
 *     -> {"incrawl":1,"tell":"touch","args":[["https://example.org/"]]}
 *     <- {"end":{..}}                                 once it is done
 *
 * An answer without "end" or "error" was cut short.
 */
export const PROTOCOL_VERSION = 1;

/** Longest line of a question or a command, characters. */
export const MAX_QUESTION = 64 * 1024;

export interface QuestionMessage {
  readonly incrawl: number;
  readonly ask: string;
  readonly args: readonly unknown[];
}

export interface CommandMessage {
  readonly incrawl: number;
  readonly tell: string;
  readonly args: readonly unknown[];
}

export type AnswerLine =
  | { readonly item: unknown }
  | { readonly end: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

export const lineOf = (message: QuestionMessage | CommandMessage | AnswerLine): string =>
  `${JSON.stringify(message)}\n`;

export function errorLine(error: unknown): string {
  const { code = 'internal', message } = error as Partial<CrawlError>;
  return lineOf({ error: { code: String(code), message: message ?? String(error) } });
}

/** The error thrown by the other process. */
export function errorOf({ code, message }: { readonly code: string; readonly message: string }): CrawlError {
  return new CrawlError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal', message);
}
