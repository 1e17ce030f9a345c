// core/domain/url/families/: URLs that are alike: features, families, shares.

import { setBits } from '../../../../page/near/fingerprint-tables.ts';
import { readSketch, SKETCH_WORDS, wordsOverlap } from '../../../../page/near/page-dimensions.ts';
import { ownText } from '../../../../page/text/cut-text.ts';
import { DAY_MS } from '../../time.ts';

/**
 * What is known of the families of like URLs of one host, or what has changed in it. It follows from the records of the
 * host, and saves reading them all again.
 */
export interface HostShares {
  readonly host: string;
  /** 0: all that is known; else its number among the changes since, from 1. */
  readonly part: number;
  /** URLs of the host, and those without a first answer, that the figures account for. */
  readonly urls: number;
  readonly unfetched: number;
  /** A URL of the host with the names of its families: by other names the figures are void. Of part 0 alone. */
  readonly sample: { readonly url: string; readonly families: readonly string[] } | null;
  /** As they are now. */
  readonly families: readonly FamilyCounts[];
  /** The last visits by the name of their family, as `RecentPrints.prints` gives them, the oldest first. */
  readonly prints: readonly { readonly family: string; readonly prints: readonly string[] }[];
  /** Pages with waiting links, by the family that decided. */
  readonly waiting: readonly WaitingOfFamily[];
  /** Names of families, `''` for none, whose pages of before have no waiting links any more. */
  readonly emptied: readonly string[];
  /** Whether there are pages with waiting links beyond those. */
  readonly isCut: boolean;
}

interface WaitingOfFamily {
  /** `null`: it is not known which. */
  readonly family: UrlFamily | null;
  readonly pages: readonly string[];
}

/** All that is known, from what was and the changes since, in their order. */
export function joinedShares([whole, ...changes]: readonly [HostShares, ...HostShares[]]): HostShares {
  const last = changes.at(-1);
  if (last === undefined) return whole;
  const families = new Map(whole.families.map((family) => [family.name, family]));
  const prints = new Map(whole.prints.map(({ family, prints }) => [family, new RecentPrints(prints)]));
  const waiting = new Map(whole.waiting.map((each) => [nameOf(each), { ...each, pages: new Set(each.pages) }]));
  for (const change of changes) {
    for (const family of change.families) families.set(family.name, family);
    for (const { family, prints: more } of change.prints) {
      prints.set(family, new RecentPrints([...(prints.get(family)?.prints() ?? []), ...more]));
    }
    for (const name of change.emptied) waiting.delete(name);
    for (const { family, pages } of change.waiting) {
      const known = waiting.get(family?.name ?? '') ?? { family, pages: new Set() };
      for (const page of pages) known.pages.add(page);
      waiting.set(family?.name ?? '', known);
    }
  }
  return {
    ...last,
    sample: whole.sample,
    families: [...families.values()],
    prints: Array.from(prints, ([family, each]) => ({ family, prints: each.prints() })),
    waiting: Array.from(waiting.values(), ({ family, pages }) => ({ family, pages: [...pages] })),
    emptied: [],
  };
}

const nameOf = ({ family }: WaitingOfFamily): string => family?.name ?? '';

/** A measure of the space that it takes. */
export const sizeOfShares = ({ families, prints, waiting }: HostShares): number =>
  2 + families.length + prints.length + waiting.reduce((sum, { pages }) => sum + pages.length, 0);

/** A set of URLs of one host that are probably alike. */
export interface UrlFamily {
  readonly name: string;
  /** URLs that enter before anything is known about their contents. */
  readonly quota: number;
}

export interface ShareOptions {
  /** Further URLs for each visit that brought something new, as long as most of them do. */
  readonly growth: number;
  /** URLs that a family without room still gets each day, so that none waits for ever. */
  readonly trial: number;
  /** Families counted; URLs of further ones are judged by their broader families. */
  readonly maxFamilies: number;
}

/** What is known of a family. */
interface FamilyFigures {
  readonly family: string;
  /** URLs in the crawl db. */
  readonly entered: number;
  /** URLs that may be there. */
  readonly limit: number;
  /** First visits, and those that brought something new; one that brought little counts a half. */
  readonly visits: number;
  readonly worthwhile: number;
}

export interface ShareVerdict {
  /** `trial`: without room, as one of a few of a day. */
  readonly verdict: 'enters' | 'trial' | 'waits';
  /** The family that decided; `null` where none has used its quota, and none is known well. */
  readonly by: FamilyFigures | null;
}

/** The counts of a family. */
export interface FamilyCounts {
  readonly name: string;
  readonly entered: number;
  readonly visits: number;
  readonly worthwhile: number;
  /** When the last URL entered, ms since the epoch. */
  readonly lastAt: number;
  readonly trialsLeft: number;
}

type Family = { -readonly [Field in Exclude<keyof FamilyCounts, 'name'>]: FamilyCounts[Field] };

/** First visits after which what they brought decides. */
const KNOWN_WELL = 20;

const UNDECIDED: ShareVerdict = Object.freeze({ verdict: 'enters', by: null });

/**
 * Shares of families of like URLs in the URLs of a host. Each new URL belongs to several families, from the narrowest
 * to the broadest. The narrowest one that is known well decides, so that a trap spoils neither its neighbours nor its
 * host; until one is, each has its quota. The share of a family grows with visits that bring something new: with w of v
 * of them it may have quota + growth * w * w / v URLs, which has a bound where less than 1 / sqrt(growth) are of worth.
 */
export class FamilyShares {
  readonly #options: ShareOptions;
  readonly #families = new Map<string, Family>();
  /** Names of families whose counts have changed since they were last taken. */
  readonly #changed = new Set<string>();

  /** @param counts of the families known so far */
  constructor(options: ShareOptions, counts: readonly FamilyCounts[] = []) {
    this.#options = options;
    for (const { name, ...family } of counts) this.#families.set(name, family);
  }

  /** All counts, or those that have changed since the last call. */
  takeCounts(which: 'all' | 'changed'): FamilyCounts[] {
    const names = which === 'all' ? [...this.#families.keys()] : [...this.#changed];
    this.#changed.clear();
    return names.flatMap((name) => {
      const family = this.#families.get(name);
      return family === undefined ? [] : [{ name, ...family }];
    });
  }

  get size(): number {
    return this.#families.size;
  }

  /** @param families those of one URL, the narrowest first */
  judge(families: readonly UrlFamily[], now: number): ShareVerdict {
    for (const { name, quota } of families) {
      const family = this.#families.get(name);
      if (family === undefined) continue;
      const isKnownWell = family.visits >= Math.min(KNOWN_WELL, quota);
      const limit = this.#limitOf(family, quota);
      if (!isKnownWell && family.entered < limit) continue;
      const { entered, visits, worthwhile } = family;
      const by = { family: name, entered, limit, visits, worthwhile };
      if (entered < limit) return { verdict: 'enters', by };
      if (family.trialsLeft === 0 && now - family.lastAt >= DAY_MS) family.trialsLeft = this.#options.trial;
      return { verdict: family.trialsLeft > 0 ? 'trial' : 'waits', by };
    }
    return UNDECIDED;
  }

  /** Counts a URL that enters. */
  enter(families: readonly UrlFamily[], now: number, { verdict, by }: ShareVerdict = UNDECIDED): void {
    for (const { name } of families) {
      const family = this.#families.get(name) ?? this.#added(name);
      if (family === null) continue;
      this.#changed.add(name);
      family.entered++;
      family.lastAt = Math.max(family.lastAt, now);
      if (verdict === 'trial' && by?.family === name) family.trialsLeft--;
    }
  }

  /** Counts a first visit. @param worth 0 for one that brought nothing new, 1 for one that did */
  visit(families: readonly UrlFamily[], worth: number): void {
    for (const { name } of families) {
      const family = this.#families.get(name);
      if (family === undefined) continue;
      this.#changed.add(name);
      family.visits++;
      family.worthwhile += worth;
    }
  }

  /** Whether a URL for which this family decides would enter. */
  hasPlace({ name, quota }: UrlFamily, now: number): boolean {
    return this.judge([{ name, quota }], now).verdict !== 'waits';
  }

  #limitOf({ visits, worthwhile }: Family, quota: number): number {
    return quota + (visits === 0 ? 0 : Math.floor((this.#options.growth * worthwhile * worthwhile) / visits));
  }

  #added(name: string): Family | null {
    if (this.#families.size >= this.#options.maxFamilies) return null;
    const family = { entered: 0, visits: 0, worthwhile: 0, lastAt: Number.NEGATIVE_INFINITY, trialsLeft: 0 };
    this.#families.set(ownText(name), family);
    return family;
  }
}

/** `a.org|cal: 100 of 100 URLs, 3 of 100 visits brought something new`. */
export function figuresOf({ family, entered, limit, visits, worthwhile }: FamilyFigures): string {
  const brought = `${worthwhile} of ${visits} visit${visits === 1 ? '' : 's'} brought something new`;
  return `${family}: ${entered} of ${limit} URLs, ${brought}`;
}

/** Prints remembered of a family. */
const KEPT = 32;
/** Bits in which prints of like pages differ at most, as for duplicates. */
const NEAR = 3;
/**
 * Likeness from which one text has nothing new beside the other, such as pages of a calendar that differ in their
 * dates. Pages of one template with a content of their own are mostly below it.
 */
const LIKE = 0.8;
/** Hex digits of a print. */
const PRINT_DIGITS = 16;

/**
 * The last visits to a family: 64-bit prints (signatures of pages, digests of bodies, hashes of targets), and sketches
 * of the texts where pages have one.
 */
export class RecentPrints {
  readonly #high = new Uint32Array(KEPT);
  readonly #low = new Uint32Array(KEPT);
  readonly #sketches: string[] = [];
  /** The same as words; made when the first page with a sketch comes. */
  #words: Int32Array | null = null;
  #count = 0;
  /** How many were added since they were last taken. */
  #fresh = 0;

  /** @param visits earlier ones as {@link prints} gives them, the oldest first */
  constructor(visits: readonly string[] = []) {
    for (const visit of visits) this.#add(visit.slice(0, PRINT_DIGITS), visit.slice(PRINT_DIGITS) || null);
    this.#fresh = 0;
  }

  /** Those remembered, the oldest first: 16 hex digits each, and those of the sketch where there is one. */
  prints(): string[] {
    return this.#last(Math.min(this.#count, KEPT));
  }

  /** Those remembered since the last call, the oldest first. */
  takeFresh(): string[] {
    const fresh = this.#last(Math.min(this.#fresh, KEPT));
    this.#fresh = 0;
    return fresh;
  }

  #last(known: number): string[] {
    return Array.from({ length: known }, (_, i) => {
      const at = (this.#count - known + i) % KEPT;
      return hex(this.#high[at]!) + hex(this.#low[at]!) + this.#sketches[at]!;
    });
  }

  /**
   * Whether a page is near one of the last, by its print or by its text; one that is not is remembered.
   * @param print 16 hex digits
   */
  isNear(print: string, sketch: string | null = null): boolean {
    const [high, low] = wordsOf(print);
    const known = Math.min(this.#count, KEPT);
    for (let i = 0; i < known; i++) {
      if (setBits(high ^ this.#high[i]!) + setBits(low ^ this.#low[i]!) <= NEAR) return true;
    }
    if (sketch !== null && this.#isLike(sketch, known)) return true;
    this.#add(print, sketch);
    return false;
  }

  #isLike(sketch: string, known: number): boolean {
    const words = this.#words;
    if (words === null) return false;
    readSketch(sketch, OWN);
    for (let i = 0; i < known; i++) {
      const overlap = wordsOverlap(OWN, 0, words, i * SKETCH_WORDS);
      if (overlap !== null && overlap.likeness >= LIKE) return true;
    }
    return false;
  }

  #add(print: string, sketch: string | null): void {
    const at = this.#count % KEPT;
    const [high, low] = wordsOf(print);
    this.#high[at] = high;
    this.#low[at] = low;
    this.#sketches[at] = sketch ?? '';
    if (sketch !== null) this.#words ??= new Int32Array(KEPT * SKETCH_WORDS);
    if (this.#words !== null) readSketch(sketch, this.#words, at * SKETCH_WORDS);
    this.#count++;
    this.#fresh++;
  }
}

const OWN = new Int32Array(SKETCH_WORDS);

const wordsOf = (print: string): [high: number, low: number] => [
  Number.parseInt(print.slice(0, 8), 16),
  Number.parseInt(print.slice(8, 16), 16),
];

const hex = (word: number): string => word.toString(16).padStart(8, '0');
