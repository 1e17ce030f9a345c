import { memoized } from '../memoized.ts';
import type { Statement } from './statements.ts';

/** Words of the longest part of the path. */
export function wordsOfAddress(url: string): string[] {
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
  let longest = '';
  for (const part of path.split('/')) if (part.length > longest.length) longest = part;
  let text = longest;
  try {
    text = decodeURIComponent(longest);
  } catch {
    // Not encoded in UTF-8.
  }
  return wordsOf(text.replace(/\d{4,}|\.html?$/g, ' '));
}

/** Shorter names are found as whole parts of a title only. */
const LEAST_LETTERS = 4;
/** Longer names are no initials. */
const MOST_INITIALS = 6;
/** Least share that a name and a part of a title must have of each other. */
const NAME_IN_PART = 0.5;
const PART_IN_NAME = 0.6;

/** The names of a site, as it states them and as its host name gives them. */
export class SiteNames {
  private readonly stated: readonly Statement[];
  private readonly host: string;
  /** A text of more characters names no site. */
  private readonly mostChars: number;
  private known: ReadonlySet<string> | null = null;
  private hasShort = false;

  /** @param host lower case, with its port */
  constructor(stated: readonly Statement[], host: string) {
    this.stated = stated;
    this.host = host;
    let longest = host.length;
    for (const { value } of stated) longest = Math.max(longest, value.length);
    this.mostChars = longest / NAME_IN_PART;
  }

  /** Whether a part of a title names the site; so does one without letters. */
  has(part: string): boolean {
    // Most titles are longer than the names of their site. Computing letters pays only for shorter ones.
    if (part.length > this.mostChars) return false;
    const letters = lettersOf(part);
    const known = this.letters;
    if (letters === '' || known.has(letters)) return true;
    if (letters.length >= LEAST_LETTERS) {
      for (const name of known) {
        if (name.length < LEAST_LETTERS) continue;
        if (name.length >= NAME_IN_PART * letters.length && letters.includes(name)) return true;
        if (letters.length >= PART_IN_NAME * name.length && name.includes(letters)) return true;
      }
    }
    // Some host or name is as short as initials.
    if (!this.hasShort) return false;
    const initials = wordsOf(part)
      .map((word) => word[0])
      .join('');
    return initials.length > 1 && known.has(initials);
  }

  private get letters(): ReadonlySet<string> {
    if (this.known !== null) return this.known;
    const found = new Set(hostNames(this.host));
    for (const { value } of this.stated) found.add(lettersOf(value));
    found.delete('');
    for (const name of found) this.hasShort ||= name.length <= MOST_INITIALS;
    this.known = found;
    return found;
  }
}

/** For letters of short texts. */
const scratch = Buffer.allocUnsafeSlow(2_048);

const NOT_IN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;

const isLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

/** `news.example.co.uk`: the whole, the whole without its last labels, and its longer labels. */
const hostNames = memoized((host): readonly string[] => {
  const labels = host
    .replace(/:\d+$/, '')
    .replace(/^www\d?\./, '')
    .split('.');
  const names = [labels.join('')];
  for (let from = 1; from < labels.length; from++) names.push(labels.slice(0, -from).join(''));
  names.push(...labels.slice(0, -1).filter((label) => label.length >= LEAST_LETTERS));
  return names.map(lettersOf).filter((name) => name.length > 1);
}, 1_000);

const WORDS = /\p{sc=Han}|[\p{L}\p{M}\p{N}]+/gu;

/** Only letters and digits, in one case: equal for texts that differ only in marks and spaces. */
export function lettersOf(text: string): string {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // ASCII is read without regular expressions, which would take most of the time of a title.
    if (code > 0x7f || length === scratch.length) {
      return text.normalize('NFKC').toLowerCase().replace(NOT_IN_WORDS, '');
    }
    if (isLetter(code)) scratch[length++] = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
  }
  return scratch.toString('latin1', 0, length);
}

/** Words in one case; a Chinese character is a word. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const lower = text.toLowerCase();
  let from = -1;
  for (let i = 0; i < lower.length; i++) {
    const code = lower.charCodeAt(i);
    if (code > 0x7f) return lower.normalize('NFKC').match(WORDS) ?? [];
    if (isLetter(code)) {
      if (from < 0) from = i;
    } else if (from >= 0) {
      words.push(lower.slice(from, i));
      from = -1;
    }
  }
  if (from >= 0) words.push(lower.slice(from));
  return words;
}

/** Words that two texts share, as multisets. */
function shared(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let count = 0;
  for (const word of b) {
    const more = left.get(word) ?? 0;
    if (more === 0) continue;
    left.set(word, more - 1);
    count++;
  }
  return count;
}

/** Likeness of two texts by their words: F1 of the shared ones. */
export function wordLikeness(a: readonly string[], b: readonly string[]): number {
  return a.length === 0 || b.length === 0 ? 0 : (2 * shared(a, b)) / (a.length + b.length);
}

/** Share of the words of `part` that `whole` has. */
export function wordShare(part: readonly string[], whole: readonly string[]): number {
  return part.length === 0 ? 0 : shared(whole, part) / part.length;
}
