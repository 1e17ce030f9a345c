/**
 * `npm run bench -- --only copies --data FOLDER [--data FOLDER].. [--against DIST]`: how many of the pages that would
 * be marked are copies of their pages, by the Jaccard similarity of the exported texts, and how many copies are found.
 * A folder holds histories, of which each page at the first, the middle and the last step is taken, or HTML files, such
 * as the manuals of a package. All pages of a folder are of one host.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { isAlikeInLength } from '../../src/domain/crawl/states/duplicate.ts';
import { isPage } from '../histories/history.ts';
import { packsIn, readPack } from '../histories/pack.ts';
import { bitsBetween, createSignPage, isCopyOf, nameOf, type SignedPage, type Signing } from './page-signatures.ts';

type Say = (text: string) => void;

/** Pages whose texts are so much alike are copies. */
const COPY = 0.9;
const BITS = 3;
const MIN_CHARS = 200;

interface NamedPage {
  readonly name: string;
  readonly html: string;
}

export async function benchCopies(say: Say, folders: readonly string[], signings: readonly Signing[]): Promise<void> {
  const sites = folders.flatMap(sitesIn);
  for (const signing of signings) {
    const sign = await createSignPage(signing);
    say(`${nameOf(signing)}: pages marked by their signatures (${BITS} bits) and texts`);
    const sum = { pages: 0, marked: 0, right: 0, copies: 0, found: 0 };
    for (const { name, pages } of sites) {
      const signed: SignedPage[] = [];
      for (const { html } of pages) signed.push(await sign(html));
      const figures = judged(signed);
      say(`  ${name.padEnd(20)} ${lineOf(figures)}`);
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += figures[key];
    }
    say(`  ${'all'.padEnd(20)} ${lineOf(sum)}`);
  }
}

interface Figures {
  readonly pages: number;
  /** Pairs that are marked, and those of them that are copies. */
  readonly marked: number;
  readonly right: number;
  /** Pairs of copies whose signatures are near, and those that are marked. */
  readonly copies: number;
  readonly found: number;
}

function lineOf({ pages, marked, right, copies, found }: Figures): string {
  const share = (part: number, of: number): string => (of === 0 ? '-' : `${((100 * part) / of).toFixed(1)} %`);
  return (
    `${pages} pages: ${right} of ${marked} marked pairs are copies (${share(right, marked)}), ` +
    `${found} of ${copies} near copies are marked (${share(found, copies)})`
  );
}

function judged(all: readonly SignedPage[]): Figures {
  const pages = all.filter(({ likeness, outcome }) => likeness !== '' && (outcome.textChars ?? 0) >= MIN_CHARS);
  const shingles = pages.map(({ text }) => shinglesOf(text));
  let [marked, right, copies, found] = [0, 0, 0, 0];
  for (const [i, page] of pages.entries()) {
    for (let j = 0; j < i; j++) {
      const other = pages[j]!;
      if (!isAlikeInLength(page.outcome.textChars ?? 0, other.outcome.textChars ?? 0)) continue;
      if (bitsBetween(page.likeness, other.likeness) > BITS) continue;
      const isSame = jaccard(shingles[i]!, shingles[j]!) >= COPY;
      const isMarked = isCopyOf(page, other, true);
      if (isMarked) marked++;
      if (isSame) copies++;
      if (isSame && isMarked) found++;
      if (isSame && isMarked) right++;
    }
  }
  return { pages: pages.length, marked, right, copies, found };
}

function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const shingle of a) if (b.has(shingle)) both++;
  return both / (a.size + b.size - both || 1);
}

interface Site {
  readonly name: string;
  readonly pages: readonly NamedPage[];
}

function sitesIn(folder: string): Site[] {
  const files = htmlBelow(folder);
  if (files.length > 0) {
    const pages = files.map((file) => ({ name: relative(folder, file), html: readFileSync(file, 'utf8') }));
    return [{ name: basename(folder), pages }];
  }
  return packsIn(folder).map((pack) => {
    const { name, steps, bodies } = readPack(pack);
    const pages = new Map<string, NamedPage>();
    for (const step of [0, Math.floor(steps.length / 2), steps.length - 1]) {
      const { tree, reached } = steps[step]!;
      for (const file of reached) {
        const body = tree.get(file);
        if (body === undefined || !isPage(file)) continue;
        // Two versions of a page are no two pages.
        pages.set(file, { name: file, html: bodies[body]!.toString('utf8') });
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
