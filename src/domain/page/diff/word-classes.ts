/** Classes of characters by which the texts of a page are cut into words, for differences and for prints. */
export const SPACE = 0;
/** A token by itself: punctuation, symbols, lone surrogates. */
export const SYMBOL = 1;
/** Letter, digit or apostrophe of a script that puts spaces between words. */
export const LETTER = 2;
/** A mark that joins the token before it. */
export const MARK = 3;
/** A character of a script that puts no spaces between words: a token by itself, with its marks. */
export const UNSPACED = 4;
export const UNSPACED_MARK = 5;

const UNSPACED_SCRIPTS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = "\\p{L}\\p{N}\\p{M}_'\u2019";

/** The tokens of a text: words, characters of scripts without spaces, other characters that are no white space. */
export const TOKEN = new RegExp(`[${UNSPACED_SCRIPTS}]\\p{M}*|(?:(?![${UNSPACED_SCRIPTS}])[${WORD}])+|\\S`, 'gu');

const IS_UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
const IS_WORD = new RegExp(`[${WORD}]`, 'u');
const IS_MARK = /\p{M}/u;

/** The class of a code point, as {@link TOKEN} reads it; those of a block of 256 are looked up once. */
export function createWordClasses(): (point: number) => number {
  const blocks: (Uint8Array | undefined)[] = [];
  return (point) => {
    const block = point >> 8;
    blocks[block] ??= Uint8Array.from({ length: 256 }, (_, i) => classOf(String.fromCodePoint((block << 8) | i)));
    return blocks[block]![point & 0xff]!;
  };
}

function classOf(character: string): number {
  if (/\s/.test(character)) return SPACE;
  const isMark = IS_MARK.test(character);
  if (IS_UNSPACED.test(character)) return isMark ? UNSPACED_MARK : UNSPACED;
  if (isMark) return MARK;
  return IS_WORD.test(character) ? LETTER : SYMBOL;
}
