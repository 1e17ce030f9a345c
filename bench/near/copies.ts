import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isAlikeInLength } from '../../src/core/domain/crawl/states/duplicate.ts';
import { measurement } from '../harness/measurement.ts';
import { foldedWords, jaccard, shinglesOf } from '../harness/shingles.ts';
import { isPage } from '../histories/history.ts';
import { packsIn, readPack } from '../histories/pack.ts';
import {
  bitsBetween,
  createSignPage,
  isCopyOf,
  SIGNING,
  type SignedPage,
  signingsOf,
  suffixOf,
} from './page-signatures.ts';

/** Pages whose texts are so much alike are copies. */
const COPY = 0.9;
const BITS = 3;
const MIN_CHARS = 200;

interface Figures {
  /** Pairs that are marked, and those of them that are copies. */
  readonly marked: number;
  readonly right: number;
  /** Pairs of copies whose signatures are near. */
  readonly copies: number;
}

/**
 * How many of the pages that would be marked are copies of their pages, by the Jaccard similarity of the exported
 * texts, and how many copies are found. A folder holds histories, of which each page at the first, the middle and the
 * last step is taken, or HTML files, such as the manuals of a package. All pages of a folder are of one host.
 */
export const copies = measurement(
  'duplicates',
  { data: [] as string[], ...SIGNING },
  async ({ question }, { data, signature }) => {
    const sites = data.flatMap(sitesIn);
    const note = question(`Copies: pairs whose exported texts have a Jaccard similarity of ${COPY}`);
    for (const signing of signingsOf(signature)) {
      const sign = await createSignPage(signing);
      for (const { name, pages } of sites) {
        const signed: SignedPage[] = [];
        for (const html of pages) signed.push(await sign(html));
        const { marked, right, copies } = judged(signed);
        const way = `${name}${suffixOf(signing)}`;
        note(`marked pairs that are copies, ${way}`, right, 'pairs', `>= ${marked}`);
        note(`near copies that are marked, ${way}`, right, 'pairs');
        note(`near copies, ${way}`, copies, 'pairs');
      }
    }
  },
);

function judged(all: readonly SignedPage[]): Figures {
  const pages = all.filter(({ likeness, outcome }) => likeness !== '' && (outcome.textChars ?? 0) >= MIN_CHARS);
  const shingles = pages.map(({ text }) => shinglesOf(foldedWords(text)));
  let [marked, right, copies] = [0, 0, 0];
  for (const [i, page] of pages.entries()) {
    for (let j = 0; j < i; j++) {
      const other = pages[j]!;
      if (!isAlikeInLength(page.outcome.textChars ?? 0, other.outcome.textChars ?? 0)) continue;
      if (bitsBetween(page.likeness, other.likeness) > BITS) continue;
      const isSame = jaccard(shingles[i]!, shingles[j]!) >= COPY;
      const isMarked = isCopyOf(page, other, true);
      if (isMarked) marked++;
      if (isSame) copies++;
      if (isSame && isMarked) right++;
    }
  }
  return { marked, right, copies };
}

interface Site {
  readonly name: string;
  /** HTML of each. */
  readonly pages: readonly string[];
}

function sitesIn(folder: string): Site[] {
  const files = htmlBelow(folder);
  if (files.length > 0) {
    return [{ name: basename(folder), pages: files.map((file) => readFileSync(file, 'utf8')) }];
  }
  return packsIn(folder).map((pack) => {
    const { name, steps, bodies } = readPack(pack);
    const pages = new Map<string, string>();
    for (const step of [0, Math.floor(steps.length / 2), steps.length - 1]) {
      const { tree, reached } = steps[step]!;
      for (const file of reached) {
        const body = tree.get(file);
        if (body === undefined || !isPage(file)) continue;
        // Two versions of a page are no two pages.
        pages.set(file, bodies[body]!.toString('utf8'));
      }
    }
    return { name, pages: [...pages.values()] };
  });
}

function htmlBelow(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .filter(isPage)
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile())
    .sort();
}
