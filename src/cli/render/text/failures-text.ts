import type { FailureKind } from '../../../crawler.ts';
import { count } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

/** Reasons shown to people; `--json` has all. */
const SHOWN = 8;
/** Longest line of what was said of one URL, characters. */
const LONGEST_MESSAGE = 300;

/**
 * `not fetched: 12 connect-failed, such as http://example.org/ (connect ECONNREFUSED)`, and `not read: ..` of what
 * could not be parsed, most frequent first; empty where all was answered and read.
 */
export function failureLines(failures: readonly FailureKind[]): string[] {
  const lines = failures.slice(0, SHOWN).map(({ code, status, visits, url, message }) => {
    const said = status === null ? code : `${code} ${status}`;
    const detail = message === '' ? '' : ` (${safeText(message.slice(0, LONGEST_MESSAGE))})`;
    return `${lackOf(code)}: ${count(visits)} ${safeText(said)}, such as ${safeText(url)}${detail}`;
  });
  if (failures.length > SHOWN) lines.push(`not fetched: ${count(failures.length - SHOWN)} further reasons (--json)`);
  return lines;
}

/** The same as the end of a text. */
export const failureText = (failures: readonly FailureKind[]): string =>
  failureLines(failures)
    .map((line) => `${line}\n`)
    .join('');

/** What a page lacks for the reason of this code. */
export const lackOf = (code: string): string => (code.startsWith('parse-') ? 'not read' : 'not fetched');
