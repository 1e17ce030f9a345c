import type { FailureKind } from '../../crawler/views.ts';
import { count } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

/** Longest message of one URL, characters. */
const LONGEST_MESSAGE = 300;

/**
 * `not fetched: 12 connect-failed, such as http://example.org/ (connect ECONNREFUSED)`, and `not parsed: ..`, most
 * frequent reason first; empty without failures.
 */
export function failureLines(failures: readonly FailureKind[]): string[] {
  return failures.map(({ code, status, visits, url, message }) => {
    const said = status === null ? code : `${code} ${status}`;
    const detail = message === '' ? '' : ` (${safeText(message.slice(0, LONGEST_MESSAGE))})`;
    return `${failedStep(code)}: ${count(visits)} ${safeText(said)}, such as ${safeText(url)}${detail}`;
  });
}

/** The same as one text. */
export const failureText = (failures: readonly FailureKind[]): string =>
  failureLines(failures)
    .map((line) => `${line}\n`)
    .join('');

/** The step that failed, by the code of the failure. */
export const failedStep = (code: string): string => (code.startsWith('parse-') ? 'not parsed' : 'not fetched');
