import { lettersOf } from '../metadata/title-words.ts';
import type { MainContent } from './main-content.ts';
import { isMostlyIn, noscriptElements } from './noscript.ts';

/** Shorter text is a notice. */
const LEAST_BODY = 200;
/** A stated text this many times as long as what was found is more than a summary of it. */
const LONGER = 2;
/** Passages of it that are looked for in the page, and their letters. */
const PASSAGES = 6;
const PASSAGE_LETTERS = 24;

/**
 * Whether a page is the shell of an application, and what it states as its text is the content: that is at least
 * {@link LONGER} times as long as the main content found, and no passage of it stands in the page, not even in parts
 * that are hidden or for clients without scripts. Pages that show their text, or the beginning of it, are no shells.
 *
 * @param stated text of its structured data (JSON-LD `articleBody`)
 */
export function isShellOf({ text, outline }: MainContent, stated: string): boolean {
  if (stated.length < LEAST_BODY || stated.length < LONGER * text.length) return false;
  const wanted = lettersOf(stated);
  if (wanted.length < LEAST_BODY / 2) return false;
  let shown = '';
  for (let i = 0; i < outline.blockCount; i++) shown += outline.textOf(i);
  const letters = lettersOf(shown);
  for (let i = 0; i < PASSAGES; i++) {
    const from = Math.round(((wanted.length - PASSAGE_LETTERS) * i) / (PASSAGES - 1));
    if (letters.includes(wanted.slice(from, from + PASSAGE_LETTERS))) return false;
  }
  return true;
}

/** Whether most of the main content stands in `noscript` elements. */
export function isFromNoscript({ isMain, outline }: MainContent): boolean {
  const around = noscriptElements(outline);
  return around !== null && isMostlyIn(outline, around, isMain);
}
