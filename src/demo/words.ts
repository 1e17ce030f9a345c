/** A small vocabulary and a seeded generator: the same seed gives the same site. */
const WORDS =
  'river stone garden winter market letter bridge morning copper field window harvest island signal mountain paper coffee silver harbour journey lantern meadow orchard pocket quarry ribbon saddle timber valley willow anchor basket candle desert engine feather glacier hammer insect jungle kettle ladder magnet needle ocean pepper rocket shadow tunnel velvet'.split(
    ' ',
  );

/** Uniform in [0, 1); mulberry32, good enough for text. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function sentence(random: () => number): string {
  const words = Array.from({ length: 8 + Math.floor(random() * 8) }, () => WORDS[Math.floor(random() * WORDS.length)]);
  const text = words.join(' ');
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

export const paragraph = (random: () => number): string => Array.from({ length: 6 }, () => sentence(random)).join(' ');
