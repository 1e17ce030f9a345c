const WORDS = /\p{sc=Han}|[\p{L}\p{M}\p{N}]+/gu;
const NOT_IN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** For letters of short texts. */
const scratch = Buffer.allocUnsafeSlow(2_048);

const isLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

/** Letters and digits alone, in one case: texts that differ in marks and spaces have the same. */
export function lettersOf(text: string): string {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // ASCII is read without regular expressions, which take most of the time of a title.
    if (code > 0x7f || length === scratch.length) {
      return text.normalize('NFKC').toLowerCase().replace(NOT_IN_WORDS, '');
    }
    if (isLetter(code)) scratch[length++] = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
  }
  return scratch.toString('latin1', 0, length);
}

/** Words in one case; a Chinese character is a word. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const lower = text.toLowerCase();
  let from = -1;
  for (let i = 0; i < lower.length; i++) {
    const code = lower.charCodeAt(i);
    if (code > 0x7f) return lower.normalize('NFKC').match(WORDS) ?? [];
    if (isLetter(code)) {
      if (from < 0) from = i;
    } else if (from >= 0) {
      words.push(lower.slice(from, i));
      from = -1;
    }
  }
  if (from >= 0) words.push(lower.slice(from));
  return words;
}

/** Words that two texts share, as multisets. */
function shared(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let count = 0;
  for (const word of b) {
    const more = left.get(word) ?? 0;
    if (more === 0) continue;
    left.set(word, more - 1);
    count++;
  }
  return count;
}

/** Likeness of two texts by their words: F1 of the shared ones. */
export function wordLikeness(a: readonly string[], b: readonly string[]): number {
  return a.length === 0 || b.length === 0 ? 0 : (2 * shared(a, b)) / (a.length + b.length);
}

/** Share of the words of `part` that `whole` has. */
export function wordShare(part: readonly string[], whole: readonly string[]): number {
  return part.length === 0 ? 0 : shared(whole, part) / part.length;
}
