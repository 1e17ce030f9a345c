import { cutText } from '../text/cut-text.ts';

/**
 * Controls, soft hyphens, marks of the reading direction and other characters without a width; those for private use,
 * which are icons in the font of the page and nothing elsewhere.
 */
const UNSEEN =
  /[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff\ufff9-\ufffb]/g;
const SPACES = /\s+/g;
/** What differs between ways to write the same words, tested before the slower replacements. */
const PLAIN = /^[\x21-\x25\x27-\x7e]+(?: [\x21-\x25\x27-\x7e]+)*$/;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|[lr]squo|[lr]dquo));/gi;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '\u2013',
  mdash: '\u2014',
  hellip: '\u2026',
  lsquo: '\u2018',
  rsquo: '\u2019',
  ldquo: '\u201c',
  rdquo: '\u201d',
};

/**
 * A short text on one line: character references decoded (they are common in JSON, and written twice in markup), white
 * space collapsed, characters that show nothing left out. Joiners stay: scripts and emoji need them.
 */
export function cleanText(written: string, maxLength: number): string {
  // The longest text is cut first, so that the work is bounded.
  const text = written.length > 8 * maxLength ? written.slice(0, 8 * maxLength) : written;
  if (text.length <= maxLength && PLAIN.test(text)) return text;
  const decoded = text.includes('&') ? text.replace(REFERENCE, decode) : text;
  return cutText(decoded.replace(UNSEEN, '').replace(SPACES, ' ').trim(), maxLength);
}

function decode(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
}
