import { cleanText } from './clean-text.ts';

const MAX_CHARS = 1 << 18;
const LINE_TAG = /<\/?(?:br|p|div|li|h[1-6]|blockquote|tr)\b[^<>]{0,500}>/gi;
const TAG = /<\/?[a-z][^<>]{0,500}>/gi;
const LINE_END = /\s*[\r\n\u2028\u2029]+\s*/;

/** The text of a page as its structured data have it, a line a paragraph; sites write markup into it. */
export function articleBodyText(written: string): string {
  const cut = written.slice(0, MAX_CHARS);
  const text = cut.includes('<') ? cut.replace(LINE_TAG, '\n').replace(TAG, '') : cut;
  return text
    .split(LINE_END)
    .map((line) => cleanText(line, MAX_CHARS))
    .filter((line) => line !== '')
    .join('\n');
}
