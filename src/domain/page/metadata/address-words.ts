// domain/page/metadata/: what a page says about itself (title, authors, times, ..), decided from all its statements.
import { wordsOf } from './title-words.ts';

/** Words of the longest part of the path. */
export function wordsOfAddress(url: string): string[] {
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
  let longest = '';
  for (const part of path.split('/')) if (part.length > longest.length) longest = part;
  let text = longest;
  try {
    text = decodeURIComponent(longest);
  } catch {
    // Encoded otherwise than in UTF-8.
  }
  return wordsOf(text.replace(/\d{4,}|\.html?$/g, ' '));
}
