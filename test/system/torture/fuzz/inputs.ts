import { hashOf, mixed, randomOf } from '../random.ts';

/** Inputs are cut here: what grows faster than its input shows long before. */
export const MAX_BYTES = 48 * 1024;
/** Of the corpus, what is longer is seldom begun with: most faults need few bytes, and these are tried soon. */
const SHORT_BYTES = 4 * 1024;
const SELDOM = 1 / 64;
const CHANGES = ['insert', 'delete', 'repeat', 'flip', 'splice'] as const;
const MOST_CHANGES = 8;
const GROWN_BYTES = 32 * 1024;
const GROWN_PART = 64;

type Random = () => number;
type Inputs = readonly Buffer[];

/**
 * Makes inputs by their numbers, from the corpus and the words of a target. fast-check, which the tests use, seeds a
 * whole run: it cannot make input 7,000,000 without those before it, as going on in pieces and replaying one need.
 */
export interface InputMaker {
  /** Some 500 bytes in the mean, seldom up to `MAX_BYTES`. */
  input(number: number): Buffer;
  /** The same with one part of it repeated, to 32 KB: what takes more than its share of steps shows by that. */
  grown(number: number): Buffer;
}

/** Inputs of the corpus with some changes, words of the grammar one after the other, and bytes of any kind. */
export function inputMaker(target: string, corpus: Inputs, words: readonly string[]): InputMaker {
  const vocabulary = words.map((word) => Buffer.from(word, 'latin1'));
  const short = corpus.filter(({ length }) => length <= SHORT_BYTES);
  const own = hashOf(target);
  const input = (number: number): Buffer => {
    const random = randomOf(mixed(own ^ mixed(number)));
    const kind = random();
    if (kind < 0.5) return changed(random, random() < SELDOM ? corpus : short, corpus, vocabulary);
    if (kind < 0.9) return strung(random, vocabulary);
    return Buffer.from(Array.from({ length: below(random, 128) }, () => below(random, 256)));
  };
  return {
    input,
    grown(number) {
      const seed = input(number);
      if (seed.length === 0) return seed;
      const random = randomOf(mixed(own + mixed(number)));
      const from = below(random, seed.length);
      const part = seed.subarray(from, from + 1 + below(random, GROWN_PART));
      const times = Math.max(1, Math.floor((GROWN_BYTES - seed.length) / part.length));
      return Buffer.concat([seed.subarray(0, from), ...Array.from({ length: times }, () => part), seed.subarray(from)]);
    },
  };
}

const below = (random: Random, bound: number): number => Math.floor(random() * bound);

function strung(random: Random, words: Inputs): Buffer {
  const count = below(random, random() < 1 / 16 ? 120 : 30);
  return Buffer.concat(Array.from({ length: count }, () => words[below(random, words.length)]!)).subarray(0, MAX_BYTES);
}

function changed(random: Random, from: Inputs, corpus: Inputs, words: Inputs): Buffer {
  let input = from[below(random, from.length)] ?? Buffer.alloc(0);
  for (let left = below(random, MOST_CHANGES + 1); left > 0; left--) input = withChange(input, random, corpus, words);
  return input;
}

function withChange(input: Buffer, random: Random, corpus: Inputs, words: Inputs): Buffer {
  const kind = CHANGES[below(random, CHANGES.length)]!;
  const from = below(random, input.length + 1);
  const isLong = random() < 1 / 16;
  const to = Math.min(input.length, from + 1 + below(random, isLong ? 4_096 : 16));
  const [before, part, after] = [input.subarray(0, from), input.subarray(from, to), input.subarray(to)];
  if (kind === 'delete') return Buffer.concat([before, after]);
  if (kind === 'insert') return Buffer.concat([before, words[below(random, words.length)]!, input.subarray(from)]);
  if (kind === 'flip') {
    const bit = 1 << below(random, 8);
    return Buffer.concat([before, part.map((byte) => byte ^ bit), after]);
  }
  if (kind === 'repeat') {
    const times = 1 + below(random, random() < 1 / 16 ? 600 : 4);
    return Buffer.concat([before, ...Array.from({ length: times }, () => part), after]).subarray(0, MAX_BYTES);
  }
  const other = corpus[below(random, corpus.length)] ?? input;
  return Buffer.concat([before, other.subarray(below(random, other.length + 1))]).subarray(0, MAX_BYTES);
}

/**
 * The input with as much left out as can be while `fails` holds: halves, quarters, .. single bytes, until none can go
 * or the time is over.
 *
 * @param milliseconds of wall time
 */
export async function madeSmall(
  input: Buffer,
  fails: (smaller: Buffer) => Promise<boolean>,
  milliseconds: number,
): Promise<Buffer> {
  const end = performance.now() + milliseconds;
  let small = input;
  for (let size = Math.ceil(small.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < small.length && performance.now() < end; ) {
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + size)]);
      if (await fails(without)) small = without;
      else at += size;
    }
  }
  return small;
}
