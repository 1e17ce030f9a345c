import { murmur3 } from './murmur3.ts';

/**
 * A mask for the fingerprints of a scope. XOR with it keeps the distances within a scope and randomises those between
 * scopes.
 */
export interface ScopeMask {
  /** Id of the scope, signed 32 bits. */
  readonly id: number;
  readonly high: number;
  readonly low: number;
}

/**
 * Without masks, a page that a million hosts serve alike would be a million times in one bucket, although copies of
 * different hosts are not compared. Two scopes are confused only if their ids and their masks collide, 96 bits
 * together.
 */
export function scopeMask(scope: string): ScopeMask {
  return { id: murmur3(scope, 1) | 0, high: murmur3(scope, 2) | 0, low: murmur3(scope, 3) | 0 };
}

/** {@link scopeMask} for pages that come scope by scope: the mask of the last scope mostly serves. */
export function lastScopeMask(): (scope: string) => ScopeMask {
  let [last, mask] = ['', scopeMask('')];
  return (scope) => {
    if (scope !== last) [last, mask] = [scope, scopeMask(scope)];
    return mask;
  };
}
