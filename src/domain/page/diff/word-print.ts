import { createWordClasses, LETTER, MARK, SPACE, SYMBOL, UNSPACED_MARK } from './word-classes.ts';

/** Bits of a print. */
export const PRINT_BITS = 24;

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;
/** Stands where white space keeps two tokens apart that would be one without it. */
const APART = 0x20;

/**
 * Fingerprints of texts, {@link PRINT_BITS} wide: equal where a difference by words (`wordDiff`) finds nothing, as both
 * read the same tokens. White space stands between two texts. FNV-1a (Fowler, Noll, Vo) over UTF-16 units.
 */
export function createWordPrint(): (texts: readonly string[]) => number {
  const classOf = createWordClasses();
  const ascii = Uint8Array.from({ length: 128 }, (_, point) => classOf(point));
  return (texts) => {
    let hash = SEED;
    // Class of the token before: a mark counts as what it joined.
    let before = SYMBOL;
    let isApart = false;
    for (const text of texts) {
      isApart = true;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        let low = -1;
        let kind: number;
        if (unit < 128) kind = ascii[unit]!;
        else {
          const point = text.codePointAt(i)!;
          kind = classOf(point);
          if (point > 0xffff) low = text.charCodeAt(++i);
        }
        if (kind === SPACE) {
          isApart = true;
          continue;
        }
        if (isApart) {
          if (joins(before, kind)) hash = Math.imul(hash ^ APART, PRIME);
          before = tokenOf(kind);
          isApart = false;
        } else if (!joins(before, kind)) before = tokenOf(kind);
        hash = Math.imul(hash ^ unit, PRIME);
        if (low >= 0) hash = Math.imul(hash ^ low, PRIME);
      }
    }
    return finished(hash) >>> (32 - PRINT_BITS);
  };
}

/** Whether a character goes on with the token before it, where no white space stands between them. */
function joins(before: number, kind: number): boolean {
  if (kind === LETTER) return before === LETTER;
  if (kind === MARK) return before !== SYMBOL;
  return kind === UNSPACED_MARK && before > LETTER;
}

/** The class of a token that begins with such a character. */
const tokenOf = (kind: number): number => (kind === MARK ? LETTER : kind === UNSPACED_MARK ? UNSPACED_MARK : kind);

/** Finalizer of MurmurHash3: every bit of the input reaches the bits that are kept. */
function finished(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
