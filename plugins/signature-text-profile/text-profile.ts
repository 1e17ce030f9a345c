/** Letters and digits as Java counts them, one UTF-16 unit at a time: characters beyond the first plane are neither. */
const TOKENS = /(?:(?![\u{10000}-\u{10ffff}])[\p{L}\p{Nd}])+/gu;

export interface ProfileOptions {
  /** Tokens of this length or less do not count, UTF-16 units. */
  readonly minTokenLength: number;
  /** Counts are rounded down to multiples of this share of the largest one. */
  readonly quantRate: number;
}

/**
 * The profile that Nutch's TextProfileSignature takes the MD5 of: tokens with their counts rounded down to a multiple
 * of the quantum, those below it dropped, most frequent first, equally frequent ones by the alphabet (its
 * `sec_sort_lex`). Where anything occurs twice, the quantum is at least 2, so what occurs once never counts. Empty for
 * a text without tokens.
 */
export function textProfile(text: string, { minTokenLength, quantRate }: ProfileOptions): string {
  const counts = new Map<string, number>();
  let most = 0;
  // A sigma at the end of a word is lower-cased there like any other.
  for (const [token] of text
    .replace(/\u03a3/g, '\u03c3')
    .toLowerCase()
    .matchAll(TOKENS)) {
    if (token.length <= minTokenLength) continue;
    const count = (counts.get(token) ?? 0) + 1;
    counts.set(token, count);
    if (count > most) most = count;
  }
  const quantum = Math.max(Math.round(most * quantRate), most > 1 ? 2 : 1);
  return [...counts]
    .map(([token, count]) => ({ token, count: count - (count % quantum) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.token < b.token ? -1 : 1))
    .map(({ token, count }) => `${token} ${count}`)
    .join('\n');
}
