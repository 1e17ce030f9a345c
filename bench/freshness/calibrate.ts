import { changeDistance, type Signed } from '../../src/core/domain/crawl/states/duplicate.ts';
import { BlockTable } from '../../src/page/block-table.ts';
import { DIMENSION_WEIGHTS } from '../../src/page/near/page-dimensions.ts';
import { createPageSigner } from '../../src/page/near/page-signer.ts';
import { sum } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { seeded } from '../harness/seeded.ts';
import { changedShare } from '../harness/shingles.ts';
import { type Random, vocabularyOf } from '../harness/words.ts';

const MAJOR_SHARE = 0.02;
const MOST_BITS = 6;

type Edit = (text: readonly string[]) => string[];

/** Writes pages and edits them: words, sentences, paragraphs, dates, adverts, so that the labels are exact. */
class Editor {
  private readonly random: Random;
  private readonly vocabulary: readonly string[];
  /** What happens to pages, with how often. */
  private readonly edits: readonly (readonly [number, Edit])[] = [
    [3, (text) => this.replaced(text, 1 / text.length)],
    [2, (text) => this.inserted(text, 1 + Math.floor(this.random() * 3))],
    [2, (text) => [...text, ...this.words(2)]],
    [2, (text) => this.replaced(text, 12 / text.length)],
    [2, (text) => this.inserted(text, 15)],
    [2, (text) => this.inserted(text, 60)],
    [2, (text) => this.replaced(text, 0.02 + this.random() * 0.2)],
    [1, (text) => this.replaced(text, 0.3 + this.random() * 0.7)],
  ];

  constructor(seed: number) {
    this.random = seeded(seed);
    this.vocabulary = vocabularyOf(seed, 20_000, 2, 10);
  }

  /** A page of 80 to 1,500 words; most are short. */
  page(): string[] {
    return this.words(Math.round(80 * Math.exp(this.random() * Math.log(1_500 / 80))));
  }

  edited(text: readonly string[]): string[] {
    let left = this.random() * sum(this.edits.map(([often]) => often));
    for (const [often, edit] of this.edits) {
      left -= often;
      if (left < 0) return edit(text);
    }
    return [...text];
  }

  /** By rank: few are frequent, most are rare, as in any language (Zipf). */
  private words(count: number): string[] {
    const { length } = this.vocabulary;
    return Array.from({ length: count }, () => this.vocabulary[Math.floor(length ** this.random()) - 1] ?? 'the');
  }

  /** Replaces a run of words by another of about the same length; both 0 to all. */
  private replaced(text: readonly string[], share: number): string[] {
    const count = Math.max(1, Math.round(text.length * share));
    const at = Math.floor(this.random() * Math.max(1, text.length - count));
    const next = Math.max(0, Math.round(count * (0.5 + this.random())));
    return [...text.slice(0, at), ...this.words(next), ...text.slice(at + count)];
  }

  private inserted(text: readonly string[], count: number): string[] {
    const at = Math.floor(this.random() * text.length);
    return [...text.slice(0, at), ...this.words(count), ...text.slice(at)];
  }
}

/**
 * Measures, for the default signature, how much likelier each Hamming distance is after a major change (2 % of the word
 * 3-shingles or more) than after a minor one. The row it says is `likelihoodRatios` of schedule-freshness; that of the
 * default is `SIMHASH64_LIKELIHOOD_RATIOS`.
 */
export const calibrate = measurement('freshness', { pages: 6_000, seed: 1 }, ({ say, question }, { pages, seed }) => {
  const editor = new Editor(seed);
  const sign = createPageSigner({ weights: DIMENSION_WEIGHTS });
  const blocks = new BlockTable();
  const signed = (text: readonly string[]): Signed => {
    const page = { title: 'a title', keywords: [], text: text.join(' '), mainText: null };
    const { change: signature, digest: changeDigest } = sign(page, blocks);
    return { signature, changeDigest, signatureName: '' };
  };
  const none = (): number[] => new Array<number>(MOST_BITS + 1).fill(0);
  const counts = { major: none(), minor: none() };
  for (let i = 0; i < pages; i++) {
    const before = editor.page();
    const after = editor.edited(before);
    const share = changedShare(before, after);
    if (share === 0) continue;
    const bits = Math.min(MOST_BITS, changeDistance(signed(before), signed(after)) ?? 0);
    counts[share >= MAJOR_SHARE ? 'major' : 'minor'][bits]!++;
  }
  const [majors, minors] = [sum(counts.major), sum(counts.minor)];
  // Half a case more in each cell, so that an empty one does not decide for ever.
  const ratios = counts.major.map(
    (major, bits) => (major + 0.5) / (majors + 3.5) / ((counts.minor[bits]! + 0.5) / (minors + 3.5)),
  );
  const note = question('Likelihood ratio, major to minor, by distance of the change signature');
  for (const [bits, ratio] of ratios.entries()) note(`distance ${bits}${bits === MOST_BITS ? ' and more' : ''}`, ratio);
  say(`likelihoodRatios: [${ratios.map((ratio) => Number(ratio.toPrecision(3))).join(', ')}]`);
});
