import { CLOSE, type Tape, TEXT, tagNumber } from 'incrawl/bundled';
import { APART, BLOCK, MUTED, OPAQUE, ROLES } from './element-roles.ts';

const BUTTON = tagNumber('button');

/**
 * Displayed text of an element, on one line, without the text of buttons; it may be slightly longer than `maxLength`.
 */
export function shownText(tape: Tape, at: number, maxLength: number): string {
  const end = tape.closeOf(at);
  let text = '';
  for (let each = at + 1; each < end && text.length < maxLength; each++) {
    const kind = tape.kindAt(each);
    if (kind === TEXT) text += tape.textAt(each);
    else if (kind === CLOSE) {
      if ((ROLES.at(tape.tagEndedAt(each)) & (BLOCK | APART)) !== 0) text += ' ';
    } else if (kind >= 0) {
      const roles = ROLES.at(kind);
      if (kind === BUTTON || (roles & (MUTED | OPAQUE)) !== 0) each = tape.closeOf(each) - 1;
      if ((roles & (BLOCK | APART)) !== 0) text += ' ';
    }
  }
  return text;
}
