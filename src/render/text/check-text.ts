import type { PageBlock } from '../../page/page-block.ts';
import type { Color } from '../output.ts';
import { count, counted } from '../quantities.ts';
import { safeLines } from '../safe-text.ts';
import { fieldLines } from '../table.ts';

const SHOWN_CHARS = 1_000;
const SHOWN_ITEMS = 50;

/** An answer of `check` for people: a line for each field, lists below, long text cut. */
export function checkText(answer: object, color: Color): string {
  const lines: string[] = [];
  const fields: (readonly [string, string])[] = [];
  const { sources = {} } = answer as { readonly sources?: Readonly<Record<string, string>> };
  for (const [name, value] of Object.entries(answer)) {
    if (name === 'sources') continue;
    if (SHORT_LISTS.has(name) && Array.isArray(value)) fields.push([name, withSource(value.join(', '), sources[name])]);
    else if (name === 'blocks' && Array.isArray(value)) lines.push('', ...blockLines(value as PageBlock[], color));
    else if (Array.isArray(value)) lines.push('', ...listLines(name, value));
    else if (typeof value === 'string' && value.length > 200)
      lines.push('', `${withSource(name, sources[name])}:`, shortened(value));
    else fields.push([name, withSource(inLine(value), sources[name])]);
  }
  return `${[fieldLines(fields), ...lines].join('\n')}\n`;
}

/** Lists on one line. */
const SHORT_LISTS = new Set(['authors', 'keywords', 'topics']);

const withSource = (value: string, source: string | undefined): string =>
  source === undefined ? value || '-' : `${value} (${source})`;

/** The blocks, coloured by class: main content stands out. */
function blockLines(blocks: readonly PageBlock[], color: Color): string[] {
  const lines = blocks.slice(0, MAX_BLOCKS).map(({ type, text, links }) => {
    const shown = safeLines(text.slice(0, BLOCK_CHARS)).replaceAll('\n', ' ');
    const facts = `${text.length > BLOCK_CHARS ? '…' : ''}${links > 0 ? ` (${counted(links, 'link')})` : ''}`;
    return color(COLOR_OF[type], `  ${type.padEnd(5)} ${shown}${facts}`);
  });
  const more = blocks.length - lines.length;
  return [
    `blocks (${count(blocks.length)}):`,
    ...lines,
    ...(more > 0 ? [`  … and ${count(more)} more; --json has all`] : []),
  ];
}

const MAX_BLOCKS = 300;
const BLOCK_CHARS = 100;
const COLOR_OF = { title: 'green', main: 'green', topic: 'blue', noise: 'gray' } as const;

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
