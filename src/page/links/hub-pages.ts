// page/links/: links that are noise, hub pages, and robots directives of a page.

import { ATTRIBUTE, TagTable, tagNumber } from '../tape/name-table.ts';
import { type Tape, TEXT } from '../tape/tape.ts';
import { visibleChars } from './link-regions.ts';

/** A page with a larger share of anchors in its text is there for its links. */
const MOSTLY_ANCHORS = 0.5;

const UNREAD = TagTable.of('script style template svg math head noscript'.split(' '));
const A = tagNumber('a');

/**
 * Whether a page is a hub: it has no main content, or none but links, and its text is mostly anchor text. Links are
 * then its content. How many of its *links* stand in lists does not matter: an ordinary page has most of its links in
 * its navigation.
 * @param mainText `null`: none was found
 * @param isMostlyLinks whether it is
 */
export function isHub(tape: Tape, mainText: string | null, isMostlyLinks: boolean): boolean {
  return (mainText === null || isMostlyLinks) && anchorShare(tape) > MOSTLY_ANCHORS;
}

/** Share of the visible characters of a page that are in anchors; 0 without text. */
function anchorShare(tape: Tape): number {
  let all = 0;
  let inAnchors = 0;
  let anchorEnd = -1;
  for (let at = 0; at < tape.length; at++) {
    const kind = tape.kindAt(at);
    if (kind === TEXT) {
      if (!tape.isVisible(at) || tape.isSection(at)) continue;
      const chars = visibleChars(tape, at);
      all += chars;
      if (at < anchorEnd) inAnchors += chars;
    } else if (kind >= 0) {
      if (UNREAD.has(kind)) at = tape.closeOf(at);
      else if (kind === A && at >= anchorEnd && tape.find(at, ATTRIBUTE.href) >= 0) anchorEnd = tape.closeOf(at);
    }
  }
  return all === 0 ? 0 : inAnchors / all;
}
