import { memoized } from '../memoized.ts';
import type { Statement } from './statements.ts';
import { lettersOf, wordsOf } from './title-words.ts';

/** Words of the longest part of the path. */
export function wordsOfAddress(url: string): string[] {
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
  let longest = '';
  for (const part of path.split('/')) if (part.length > longest.length) longest = part;
  let text = longest;
  try {
    text = decodeURIComponent(longest);
  } catch {
    // Encoded otherwise than in UTF-8.
  }
  return wordsOf(text.replace(/\d{4,}|\.html?$/g, ' '));
}

/** Shorter names are found as whole parts of a title only. */
const LEAST_LETTERS = 4;
/** Longer names are no initials. */
const MOST_INITIALS = 6;
/** Least share that a name and a part of a title have of one another. */
const NAME_IN_PART = 0.5;
const PART_IN_NAME = 0.6;

/** The names of a site, as it states them and as its host has them. */
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
    // Most titles are longer than the names of their site. The letters of those that are not are worth their price.
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
    // Some host or name is as short as initials are.
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

/** `news.example.co.uk`: the whole, without its last labels, and its longer labels. */
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
