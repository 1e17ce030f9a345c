import { count } from './quantities.ts';
import { safeLines } from './safe-text.ts';
import { fieldLines } from './table.ts';

const SHOWN_CHARS = 1_000;
const SHOWN_ITEMS = 50;

/** Any answer of `check` for people: a line per field, lists below each other, long text cut. */
export function checkText(answer: object): string {
  const lines: string[] = [];
  const fields: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(answer)) {
    if (Array.isArray(value)) lines.push('', ...listLines(name, value));
    else if (typeof value === 'string' && value.length > 200) lines.push('', `${name}:`, shortened(value));
    else fields.push([name, inLine(value)]);
  }
  return `${[fieldLines(fields), ...lines].join('\n')}\n`;
}

function listLines(name: string, items: readonly unknown[]): string[] {
  const shown = items.slice(0, SHOWN_ITEMS).map((item) => `  ${safeLines(inLine(item)).replaceAll('\n', ' ')}`);
  const more = items.length - shown.length;
  const rest = more > 0 ? [`  … and ${count(more)} more; --json has all`] : [];
  return [`${name} (${count(items.length)}):`, ...shown, ...rest];
}

function inLine(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value !== 'object') return String(value);
  const known = Object.entries(value).filter(
    ([, each]) => each !== null && each !== undefined && each !== '' && each !== false,
  );
  return known
    .map(([key, each]) => `${key} ${typeof each === 'object' ? JSON.stringify(each) : String(each)}`)
    .join(' · ');
}

function shortened(text: string): string {
  const shown = safeLines(text.slice(0, SHOWN_CHARS));
  return text.length > SHOWN_CHARS
    ? `${shown}…\n(${count(text.length - SHOWN_CHARS)} more characters; --json has all)`
    : shown;
}
