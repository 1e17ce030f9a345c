// domain/page/text/: words, languages and lengths of text.
/** Classes of code points for the word scanner. */
export const SEPARATOR = 0;
/** Letter, mark or digit of a script that puts spaces between words. */
export const SPACED = 1;
/** The same of a script that does not; a dictionary must cut it into words. */
export const UNSPACED = 2;

export interface CharacterBlock {
  /** Class per code point. */
  readonly classes: Uint8Array;
  /** The code point in lower case. */
  readonly lower: Uint32Array;
}

// Variation selectors are marks too, but they stand after symbols.
const WORD_CHARACTER = /(?!\p{VS})[\p{L}\p{Mn}\p{Mc}\p{N}]/u;
const UNSPACED_SCRIPT = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/**
 * Classes and lower case, as Unicode has them, of the 256 code points from `block * 256`; made on first use and kept.
 */
export function createCharacterBlocks(): (block: number) => CharacterBlock {
  const blocks: (CharacterBlock | undefined)[] = [];
  return (block) => {
    blocks[block] ??= characterBlock(block);
    return blocks[block]!;
  };
}

function characterBlock(block: number): CharacterBlock {
  const classes = new Uint8Array(256);
  const lower = new Uint32Array(256);
  for (let index = 0; index < 256; index++) {
    const character = String.fromCodePoint(block * 256 + index);
    if (WORD_CHARACTER.test(character)) classes[index] = UNSPACED_SCRIPT.test(character) ? UNSPACED : SPACED;
    // Some become two (a dotted capital I); the first is the letter, the rest marks.
    lower[index] = character.toLowerCase().codePointAt(0)!;
  }
  return { classes, lower };
}
