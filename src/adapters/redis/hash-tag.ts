import { memoized } from '../../domain/memoized.ts';

/** Name of a partition of a spread crawl: `NAME:017`. */
const PARTITION = /:(\d{3})$/;
const SHARES = 256;
const SLOTS_OF_A_SHARE = 16_384 / SHARES;

/**
 * The hash tag, in braces, that all keys of a name carry: so they lie on one node of a Redis Cluster, as a batch must.
 * Partitions of a crawl are placed at even distances over the slots, whatever their number: masters have ranges of
 * slots, so that each gets its share of partitions to within one, which hashes of the names do not give. The place is
 * the number of the partition with its bits in reverse (J. G. van der Corput, 1935); a suffix leads the tag there.
 */
export const hashTag: (name: string) => string = memoized((name: string): string => {
  const partition = Number(PARTITION.exec(name)?.[1] ?? SHARES);
  if (partition >= SHARES) return `{${name}}`;
  const share = reversedBits(partition);
  for (let suffix = 0; ; suffix++) {
    const tag = `${name}.${suffix.toString(36)}`;
    if (Math.floor(slotOf(tag) / SLOTS_OF_A_SHARE) === share) return `{${tag}}`;
  }
}, 2 * SHARES);

function reversedBits(byte: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >>> bit) & 1) << (7 - bit);
  return reversed;
}

/** Slot of a hash tag: CRC-16/XMODEM modulo 16,384 (Redis cluster specification). */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % 16_384;
}
