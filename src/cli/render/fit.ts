import { cellWidth, isPlain } from './cell-width.ts';

const BETWEEN = ' · ';

/**
 * One line of the parts that fit a width, from the first on; parts that do not are left out whole, so that no number is
 * cut. The first is always there, and is words: it may be cut.
 */
export function partsThatFit(parts: readonly string[], width: number, between = BETWEEN): string {
  const [first = '', ...others] = parts;
  let line = clip(first, width);
  for (const part of others) {
    if (cellWidth(line) + between.length + cellWidth(part) > width) break;
    line += between + part;
  }
  return line;
}

/** All parts, in as many lines as they take. A part that is wider than a line has one of its own. */
export function packedLines(parts: readonly string[], width: number, indent = '', between = BETWEEN): string[] {
  const lines: string[] = [];
  let line: string | null = null;
  for (const part of parts) {
    if (line !== null && cellWidth(line) + between.length + cellWidth(part) <= width) line += between + part;
    else {
      if (line !== null) lines.push(line);
      line = (lines.length === 0 && line === null ? '' : indent) + part;
    }
  }
  return line === null ? lines : [...lines, line];
}

/** Cuts at a width in terminal cells, never inside a character. */
export function clip(text: string, max: number): string {
  if (text.length <= max / 2 || cellWidth(text) <= max) return text;
  if (isPlain(text)) return `${text.slice(0, max - 1)}…`;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += cellWidth(segment);
    if (width > max - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Made when it is needed: it takes longer than the whole table otherwise. */
let graphemes: Intl.Segmenter | null = null;
