import type { Tape } from '../tape/tape.ts';
import { type MainContent, textOf } from './main-content.ts';
import { OutlineReader } from './outline.ts';
import { shownBlocks } from './page-blocks.ts';

/** Takes all that a page shows as its main content: a document has no navigation around it that could be left out. */
export function createWholeContent(): (tape: Tape) => MainContent {
  const outlines = new OutlineReader();
  return (tape) => {
    const outline = outlines.read(tape);
    const isMain = shownBlocks(outline);
    return { text: textOf(outline, isMain), outline, isMain, headline: null, certainty: Float64Array.from(isMain) };
  };
}
