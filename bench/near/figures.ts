/** Figures over pairs of which the truth and the distance are known. */

export interface Judged {
  readonly kind: string;
  /** Share of the shingles that only one page has, 0..1. */
  readonly changed: number;
  readonly distance: number;
}

/** Below it a change is minor, and the pages are the same. */
const SAME_BELOW = 0.02;
/** From here on they are different; between both they are neither. About 10 % of the words. */
const DIFFERENT_FROM = 0.2;

interface Confusion {
  readonly f1: number;
  readonly recall: number;
  /** Of the pairs that are different. */
  readonly falseShare: number;
}

export function confusionAt(k: number, pairs: readonly Judged[]): Confusion {
  const same = pairs.filter(({ changed }) => changed < SAME_BELOW);
  const different = pairs.filter(({ changed }) => changed >= DIFFERENT_FROM);
  const found = same.filter(({ distance }) => distance <= k).length;
  const wrong = different.filter(({ distance }) => distance <= k).length;
  return {
    f1: (2 * found) / (same.length + found + wrong),
    recall: found / same.length,
    falseShare: wrong / different.length,
  };
}

/**
 * Probability that a change of {@link SAME_BELOW} or more has the larger distance of two pairs, one with such a change
 * and one without; equal distances count half.
 */
export function areaUnderCurve(pairs: readonly Judged[]): number {
  const below = new Map<number, number>();
  const major: Judged[] = [];
  let minor = 0;
  for (const pair of pairs) {
    if (pair.changed >= SAME_BELOW) major.push(pair);
    else {
      below.set(pair.distance, (below.get(pair.distance) ?? 0) + 1);
      minor++;
    }
  }
  let sum = 0;
  for (const { distance } of major) {
    for (const [other, count] of below) sum += distance > other ? count : distance === other ? count / 2 : 0;
  }
  return sum / (major.length * minor);
}

/** Spearman's rank correlation; equal values share their mean rank. */
export function rankCorrelation(pairs: readonly Judged[]): number {
  const x = ranks(pairs.map(({ changed }) => changed));
  const y = ranks(pairs.map(({ distance }) => distance));
  const middle = (pairs.length - 1) / 2;
  const sum = (of: (i: number) => number): number => pairs.reduce((total, _, i) => total + of(i), 0);
  const dx = (i: number): number => (x[i] as number) - middle;
  const dy = (i: number): number => (y[i] as number) - middle;
  return sum((i) => dx(i) * dy(i)) / Math.sqrt(sum((i) => dx(i) ** 2) * sum((i) => dy(i) ** 2));
}

function ranks(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => (values[a] as number) - (values[b] as number));
  const found = new Array<number>(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to] as number] === values[order[from] as number]) to++;
    for (let i = from; i < to; i++) found[order[i] as number] = (from + to - 1) / 2;
    from = to;
  }
  return found;
}

export const shareOf = <Item>(items: readonly Item[], is: (item: Item) => boolean): number =>
  items.filter(is).length / items.length;
