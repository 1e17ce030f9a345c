import { CrawlError } from '../../core/domain/errors.ts';
import { printedJson } from '../../render/safe-text.ts';
import type { Session } from '../session.ts';
import { linesOf } from './seed-sources.ts';

/** One input of `check`: a bare value, or the fields of a JSON object. */
export type CheckInput = string | Readonly<Record<string, unknown>>;

/**
 * Answers each line of stdin with one line of JSON, in order and without buffering: a program can keep the process open
 * and ask line by line. A failed line is answered with an object that has `error`, and the next one is read.
 */
export async function answerLines(session: Session, answer: (input: CheckInput) => Promise<object>): Promise<void> {
  const { out, surroundings } = session;
  for await (const line of linesOf(surroundings.stdin())) {
    let reply: object;
    try {
      reply = await answer(parseInput(line));
    } catch (error) {
      reply = { input: line, error: error instanceof Error ? error.message : String(error) };
    }
    await out.write(`${printedJson(reply)}\n`);
    await out.flush();
    if (out.closed) break;
  }
}

/**
 * A line, or the argument of a command: text that begins with `{` or `"` is JSON, any other text is the value itself.
 */
export function parseInput(line: string): CheckInput {
  const text = line.trim();
  if (!/^[{"]/.test(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CrawlError('usage-invalid', `expected a JSON object or a bare value: ${(error as Error).message}`);
  }
  return value as CheckInput;
}

/** A text field of an input; `undefined` when it is absent. Throws `CrawlError('usage-invalid')` for another type. */
export function textField(input: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw new CrawlError('usage-invalid', `expected text in "${name}", got ${JSON.stringify(value)}`);
  return value;
}

export function requiredField(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = textField(input, name);
  if (value === undefined) throw new CrawlError('usage-invalid', `expected a field "${name}"`);
  return value;
}
