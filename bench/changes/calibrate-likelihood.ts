/**
 * `npm run bench:calibrate [-- --pages N] [--seed N]`: measures, for the default signature, how much likelier each
 * Hamming distance is after a major change (2 % of the word 3-shingles or more) than after a minor one. The row it
 * prints is `likelihoodRatios` of schedule-freshness. Changes are made by a seeded editor: words, sentences,
 * paragraphs, dates, adverts, so that the labels are exact.
 */
import { parseArgs } from 'node:util';
import { SIMHASH64_LIKELIHOOD_RATIOS } from '../../src/domain/crawl/change/change-belief.ts';
import { changeDistance, type Signed } from '../../src/domain/crawl/states/duplicate.ts';
import { BlockTable } from '../../src/domain/page/block-table.ts';
import { DIMENSION_WEIGHTS } from '../../src/domain/page/near/page-dimensions.ts';
import { createPageSigner } from '../../src/domain/page/near/page-signer.ts';
import type { Random } from '../freshness/worlds.ts';
import { seeded } from '../seeded.ts';

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '6000' }, seed: { type: 'string', default: '1' } },
});
const random = seeded(Number(values.seed));
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const MAJOR_SHARE = 0.02;
const MOST_BITS = 6;

/** Words by rank: few are frequent, most are rare, as in any language (Zipf). */
const VOCABULARY = Array.from({ length: 20_000 }, () =>
  Array.from({ length: 2 + Math.floor(random() * 9) }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join(
    '',
  ),
);
const word = (next: Random): string => VOCABULARY[Math.floor(VOCABULARY.length ** next()) - 1] ?? 'the';
const words = (count: number): string[] => Array.from({ length: count }, () => word(random));

/** A page of 80 to 1,500 words; most are short. */
const page = (): string[] => words(Math.round(80 * Math.exp(random() * Math.log(1_500 / 80))));

/** Replaces a run of words by another of about the same length; both 0 to all. */
function replaced(text: readonly string[], share: number): string[] {
  const count = Math.max(1, Math.round(text.length * share));
  const at = Math.floor(random() * Math.max(1, text.length - count));
  const next = Math.max(0, Math.round(count * (0.5 + random())));
  return [...text.slice(0, at), ...words(next), ...text.slice(at + count)];
}

const insertedAt = (text: readonly string[], inserted: readonly string[]): string[] => {
  const at = Math.floor(random() * text.length);
  return [...text.slice(0, at), ...inserted, ...text.slice(at)];
};

/** What happens to pages, with how often. */
const EDITS: readonly (readonly [number, (text: readonly string[]) => string[]])[] = [
  [3, (text) => replaced(text, 1 / text.length)],
  [2, (text) => insertedAt(text, words(1 + Math.floor(random() * 3)))],
  [2, (text) => [...text, ...words(2)]],
  [2, (text) => replaced(text, 12 / text.length)],
  [2, (text) => insertedAt(text, words(15))],
  [2, (text) => insertedAt(text, words(60))],
  [2, (text) => replaced(text, 0.02 + random() * 0.2)],
  [1, (text) => replaced(text, 0.3 + random() * 0.7)],
];

function edited(text: readonly string[]): string[] {
  let left = random() * EDITS.reduce((sum, [often]) => sum + often, 0);
  for (const [often, edit] of EDITS) {
    left -= often;
    if (left < 0) return edit(text);
  }
  return [...text];
}

const shinglesOf = (text: readonly string[]): Set<string> =>
  new Set(text.slice(0, Math.max(1, text.length - 2)).map((_, i) => text.slice(i, i + 3).join(' ')));

/** Share of 3-shingles added and removed, of those of both together. */
function changedShare(before: readonly string[], after: readonly string[]): number {
  const [a, b] = [shinglesOf(before), shinglesOf(after)];
  let shared = 0;
  for (const shingle of a) if (b.has(shingle)) shared++;
  return 1 - shared / (a.size + b.size - shared);
}

const sign = createPageSigner({ weights: DIMENSION_WEIGHTS });
const blocks = new BlockTable();
const signed = (text: readonly string[]): Signed => {
  const page = { title: 'a title', keywords: [], text: text.join(' '), mainText: null };
  const { change: signature, digest: changeDigest } = sign(page, blocks);
  return { signature, changeDigest, signatureName: '' };
};

const counts = { major: new Array<number>(MOST_BITS + 1).fill(0), minor: new Array<number>(MOST_BITS + 1).fill(0) };
for (let i = 0; i < Number(values.pages); i++) {
  const before = page();
  const after = edited(before);
  const share = changedShare(before, after);
  if (share === 0) continue;
  const bits = Math.min(MOST_BITS, changeDistance(signed(before), signed(after)) ?? 0);
  const row = counts[share >= MAJOR_SHARE ? 'major' : 'minor'];
  row[bits] = (row[bits] ?? 0) + 1;
}
const sum = (row: readonly number[]): number => row.reduce((total, each) => total + each, 0);
const [majors, minors] = [sum(counts.major), sum(counts.minor)];
say(`${majors} major and ${minors} minor changes`);
say('bits     major    minor    ratio   in force');
// Half a case more in each cell, so that an empty one does not decide for ever.
const ratios = counts.major.map(
  (major, bits) => (major + 0.5) / (majors + 3.5) / (((counts.minor[bits] ?? 0) + 0.5) / (minors + 3.5)),
);
for (const [bits, ratio] of ratios.entries()) {
  const name = bits === MOST_BITS ? '>= 6' : String(bits);
  say(
    `${name.padEnd(6)} ${String(counts.major[bits]).padStart(7)}  ${String(counts.minor[bits]).padStart(7)}  ${ratio.toPrecision(3).padStart(7)}  ${String(SIMHASH64_LIKELIHOOD_RATIOS[bits]).padStart(7)}`,
  );
}
say(`likelihoodRatios: [${ratios.map((ratio) => Number(ratio.toPrecision(3))).join(', ')}]`);
