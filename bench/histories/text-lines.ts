import { EntityReader } from '../../plugins/parse-html/markup/references.ts';

/** Lines with how often each occurs. */
export type LineCounts = ReadonlyMap<string, number>;

const UNSEEN = /<(script|style|noscript|template)\b.*?<\/\1\s*>|<!--.*?-->/gis;
const BLOCKS = [
  'p|div|li|ul|ol|dl|dt|dd|h[1-6]|tr|td|th|table|section|article|header|footer|nav|main|pre|br|hr|title|body|head|html',
  'blockquote|form|option',
].join('|');
const BLOCK = new RegExp(`</?(?:${BLOCKS})\\b[^>]*>`, 'gi');
const TAG = /<[^>]*>/g;
const REFERENCE = /&(?:#[0-9]+;?|#x[0-9a-f]+;?|[^\t\n\f <&#;]{1,32};?)/gi;

const entities = new EntityReader();
const decoded = new Map<string, string>();

/** Pages have few different references. */
function decode(reference: string): string {
  let text = decoded.get(reference);
  if (text === undefined) {
    text = entities.text(reference, false);
    decoded.set(reference, text);
  }
  return text;
}

/** The visible text of a page, a line for each block. */
export function textLines(body: Buffer): LineCounts {
  const text = body.toString('utf8').replace(UNSEEN, ' ').replace(BLOCK, '\n').replace(TAG, '');
  const counts = new Map<string, number>();
  for (const raw of text.replace(REFERENCE, decode).split('\n')) {
    const line = raw.replace(/\s+/g, ' ').trim();
    if (line !== '') counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

/** Lines that `a` has more often than `b`. */
export function linesMissing(a: LineCounts, b: LineCounts): LineCounts {
  const missing = new Map<string, number>();
  for (const [line, count] of a) {
    const more = count - (b.get(line) ?? 0);
    if (more > 0) missing.set(line, more);
  }
  return missing;
}

export const maskDigits = (line: string): string => line.replace(/\p{Nd}+/gu, '#');

/** The same lines with `#` for each number. */
export function masked(lines: LineCounts): LineCounts {
  const counts = new Map<string, number>();
  for (const [line, count] of lines) {
    const mask = maskDigits(line);
    counts.set(mask, (counts.get(mask) ?? 0) + count);
  }
  return counts;
}

export const areSameLines = (a: LineCounts, b: LineCounts): boolean =>
  a.size === b.size && [...a].every(([line, count]) => b.get(line) === count);
