import type { Outline } from '../content/outline.ts';

/** Narrower blocks may stand in any title. */
const LEAST_WIDTH = 12;

/** 1 for each block that is a part of the page's title: most often the headline. */
export function titledBlocks({ blockCount, blocks, bytes, title }: Outline): Uint8Array {
  const titled = new Uint8Array(blockCount);
  const starts = new Uint8Array(STARTS);
  for (let at = 0; at + 2 < title.length; at++) starts[startAt(title, at)] = 1;
  for (let i = 0; i < blockCount; i++) {
    const from = blocks.from[i]!;
    const to = blocks.to[i]!;
    if (blocks.width[i]! < LEAST_WIDTH || to - from > title.length || starts[startAt(bytes, from)] === 0) continue;
    titled[i] = Number(title.includes(bytes.subarray(from, to)));
  }
  return titled;
}

/** A table of what the title has saves most searches. */
const STARTS = 4_096;
const startAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! ^ (bytes[at + 1]! << 3) ^ (bytes[at + 2]! << 6)) & (STARTS - 1);
