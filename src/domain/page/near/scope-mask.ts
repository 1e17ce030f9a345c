import { murmur3 } from '../../url/hash/murmur3.ts';

/**
 * A scope in numbers. Fingerprints of a scope are XORed with its mask: their distances stay, and fingerprints of two
 * scopes are as far apart as any two.
 */
export interface ScopeMask {
  /** Tells scopes apart, signed 32 bits. */
  readonly id: number;
  readonly high: number;
  readonly low: number;
}

/**
 * Without masks, a page that a million hosts serve alike would stand a million times in one bucket, though no host's
 * copy may be compared with another's. Two scopes are taken for one only if their numbers and their masks collide, 96
 * bits together.
 */
export function scopeMask(scope: string): ScopeMask {
  return { id: murmur3(scope, 1) | 0, high: murmur3(scope, 2) | 0, low: murmur3(scope, 3) | 0 };
}
