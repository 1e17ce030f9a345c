// page/text/: words, languages and lengths of text.

/** The first `length` UTF-16 units of a text, one less where that would split a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * A copy of a text in memory of its own. Engines keep a substring as a view of the whole string, so a long-lived
 * substring of a page or record keeps the whole alive (a URL of 40 characters keeps some 8 KB of its record).
 * Concatenating and slicing allocates only the text and one character.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1);
}
