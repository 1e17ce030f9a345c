import { seeded } from './seeded.ts';

export type Random = () => number;

export const intOf = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
export const oneOf = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;

export const lettersOf = (random: Random, count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');

/** Made-up words of `least` to `most` letters, the same for a seed. */
export function vocabularyOf(seed: number, size: number, least: number, most: number): readonly string[] {
  const random = seeded(seed);
  return Array.from({ length: size }, () => lettersOf(random, intOf(random, least, most)));
}

export const wordsOf = (random: Random, vocabulary: readonly string[], count: number): string =>
  Array.from({ length: count }, () => oneOf(random, vocabulary)).join(' ');
