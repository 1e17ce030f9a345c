import { cellWidth } from './cell-width.ts';

/** Two or more spaces behind a label: its value, and the lines that continue it, begin behind them. */
const LABELLED = /^(\s*\S+(?: \S+)* {2,})\S/;
/** A command is to be copied as one line. */
const COMMAND = /^\s*(?:(?:npx )?incrawl|node \S+) /;
/** Spaces within a time, and between a figure and its unit. */
const HELD =
  /(?<=\d{4}-\d\d-\d\d) (?=\d\d:\d\d)|(?<=\d\d:\d\d) (?=UTC)|(?<=\d) (?=(?:%|[KMGT]i?B|B|bits|ms|s|min|h|d)(?![\w]))/g;
const HOLD = '\u00a0';

/**
 * Breaks lines that are wider than the terminal between words; lines that continue another are indented. A figure stays
 * beside its unit. A word wider than a line, such as a URL, stays whole: the terminal continues it, and it can be
 * copied.
 */
export function wrapText(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split('\n')
    .map((line) => (cellWidth(line) <= width || COMMAND.test(line) ? line : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = ' '.repeat(indentOf(line, width));
  // A figure with its unit is no such word: it begins a line of its own.
  const isTooWide = (word: string): boolean => !word.includes(HOLD) && indent.length + cellWidth(word) > width;
  const lines: string[] = [];
  const [margin = ''] = /^ */.exec(line) ?? [];
  let current = '';
  // Spaces go with the word behind them, so that columns within the line stay where they are.
  for (const word of line
    .slice(margin.length)
    .replace(HELD, HOLD)
    .split(/(?<=\S)(?= )/)) {
    const start = lines.length === 0 ? margin : indent;
    if (current === '') current = start + (lines.length === 0 ? word : word.trimStart());
    else if (cellWidth(current) + cellWidth(word) <= width || isTooWide(word.trimStart())) current += word;
    else {
      lines.push(current);
      current = indent + word.trimStart();
    }
  }
  return [...lines, current].join('\n').replaceAll(HOLD, ' ');
}

/** Where lines begin that continue this one: behind its label, or two columns further than it does itself. */
function indentOf(line: string, width: number): number {
  const label = LABELLED.exec(line)?.[1];
  if (label !== undefined && cellWidth(label) <= width / 2) return cellWidth(label);
  return /^ */.exec(line)![0].length + 2;
}
