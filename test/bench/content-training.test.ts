import { describe, expect, it } from 'vitest';
import { BOOSTING, boost, type Samples } from '../../bench/content/boosting.ts';
import { gramsOf, ScoreTable, tokensOf } from '../../bench/content/scores.ts';
import { sourceOfTrees } from '../../bench/content/tree-source.ts';
import { seeded } from '../../bench/harness/seeded.ts';
import { logitsOf } from '../../src/page/content/trees/content-model.ts';

/** The label is one where the first column is above one half and the second below it; the third is noise. */
function samples(size: number, seed: number): Samples {
  const random = seeded(seed);
  const rows = Float32Array.from({ length: 3 * size }, () => random());
  const labels = Float32Array.from({ length: size }, (_, i) => Number(rows[3 * i]! > 0.5 && rows[3 * i + 1]! < 0.5));
  return { rows, labels, weights: new Float32Array(size).fill(1), columns: 3 };
}

describe('boosting', () => {
  const options = { ...BOOSTING, trees: 60, columnShare: 1 };

  it('learns what two columns say together', () => {
    const trees = boost(samples(2_000, 1), options);
    const unseen = samples(500, 2);
    const logits = logitsOf(trees, unseen.rows, 3);
    const right = logits.filter((logit, i) => logit > 0 === (unseen.labels[i] === 1));
    expect(right.length).toBeGreaterThan(475);
  });

  it('writes the same trees for the same samples and seed, and others for another', () => {
    const source = (seed: number): string => sourceOfTrees(boost(samples(500, 3), { ...options, trees: 10, seed }), '');
    expect(source(1)).toBe(source(1));
    expect(source(2)).not.toBe(source(1));
  });

  it('leaves columns of one value alone', () => {
    const { rows, ...rest } = samples(500, 4);
    const constant = rows.map((value, at) => (at % 3 === 0 ? 7 : value));
    const trees = boost(
      { ...rest, rows: constant, labels: rest.labels.map((_, i) => i % 2) },
      { ...options, trees: 3 },
    );
    // A split on column 0 is one that sends everything left.
    for (const [at, feature] of trees.features.entries()) {
      if (feature === 0) expect(trees.thresholds[at]).toBe(Number.POSITIVE_INFINITY);
    }
    expect(trees.features.some((feature) => feature > 0)).toBe(true);
  });
});

describe('scores', () => {
  it('count Chinese and Japanese characters one by one, also behind digits', () => {
    expect(tokensOf('2026年 the_mill, カナ')).toEqual(['2026', '年', 'the_mill', 'カ', 'ナ']);
  });

  it('a text shorter than a gram is one', () => {
    expect([gramsOf([], 4), gramsOf(['a', 'b'], 4), gramsOf([...'abcde'], 4)]).toEqual([
      [],
      ['a b'],
      ['a b c d', 'b c d e'],
    ]);
  });

  it('are means over pages, F1 of grams is of the mean precision and recall', () => {
    const table = new ScoreTable();
    table.add(['a'], 'One two three four', 'one two three four');
    table.add(['a'], 'one two three four', 'one two three four five');
    table.add(['a'], '', 'five');
    // Bags: 1; 1 and 4/5; 0 and 0. Grams keep the case: 0 and 0; 1 and 1/2; no found text and 0.
    const [{ pages, bag, grams } = { pages: 0, bag: null, grams: 0 }] = table.groups();
    expect(pages).toBe(3);
    expect(bag?.f1).toBeCloseTo(0.63, 3);
    expect(bag?.precision).toBeCloseTo(2 / 3, 5);
    expect(bag?.recall).toBeCloseTo(0.6, 5);
    expect(grams).toBeCloseTo(0.25, 5);
  });
});
