import { memoized } from '../../memoized.ts';
import { lettersOf, wordsOf } from './title-words.ts';

/** Shorter names are found as whole parts of a title only. */
const LEAST_LETTERS = 4;
/** Longer names are no initials. */
const MOST_INITIALS = 6;
/** Least share that a name and a part of a title have of one another. */
const NAME_IN_PART = 0.5;
const PART_IN_NAME = 0.6;

/** The names of a site, as it states them and as its host has them. */
export class SiteNames {
  private readonly letters: ReadonlySet<string>;
  private readonly hasShort: boolean;

  constructor(stated: Iterable<string>, host: string) {
    const found = new Set(hostNames(host));
    for (const name of stated) found.add(lettersOf(name));
    found.delete('');
    this.letters = found;
    this.hasShort = [...found].some((name) => name.length <= MOST_INITIALS);
  }

  /** Whether a part of a title names the site; so does one without letters. */
  has(part: string): boolean {
    const letters = lettersOf(part);
    if (letters === '' || this.letters.has(letters)) return true;
    if (letters.length >= LEAST_LETTERS) {
      for (const name of this.letters) {
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
    return initials.length > 1 && this.letters.has(initials);
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
