/**
 * The same text in memory of its own. Engines keep a part of a string as a view of the whole: what is kept for long and
 * was cut from a page, or from a record, would keep all of that alive (a URL of 40 characters some 8 KB of the record
 * that it was read from). Joining and cutting anew makes a string as long as the text and one character.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1);
}
