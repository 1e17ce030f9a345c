/** A set of ASCII characters, one bit each. Canonical URLs are ASCII, so nothing else can be met. */
export type CharacterSet = bigint;

export const NO_CHARACTER: CharacterSet = 0n;
export const ANY_CHARACTER: CharacterSet = (1n << 128n) - 1n;

export function ofCode(code: number): CharacterSet {
  return code < 128 ? 1n << BigInt(code) : NO_CHARACTER;
}

export function ofRange(first: number, last: number): CharacterSet {
  let set = NO_CHARACTER;
  for (let code = first; code <= Math.min(last, 127); code++) set |= ofCode(code);
  return set;
}

export function complementOf(set: CharacterSet): CharacterSet {
  return ANY_CHARACTER & ~set;
}

const DIGITS = ofRange(48, 57);
const WORD = DIGITS | ofRange(65, 90) | ofRange(97, 122) | ofCode(95);
const SPACE = ofRange(9, 13) | ofCode(32);

/** The set of a class escape such as `\d`, by its letter. */
export const CLASS_ESCAPES: ReadonlyMap<string, CharacterSet> = new Map([
  ['d', DIGITS],
  ['D', complementOf(DIGITS)],
  ['w', WORD],
  ['W', complementOf(WORD)],
  ['s', SPACE],
  ['S', complementOf(SPACE)],
]);

/** Both cases of every letter in the set. */
export function foldCase(set: CharacterSet): CharacterSet {
  const upper = set & ofRange(65, 90);
  const lower = set & ofRange(97, 122);
  return set | (upper << 32n) | (lower >> 32n);
}
