import { ATTRIBUTE, CLOSE, cutText, HIDING_STYLE, type Tape, TEXT, TextMeanings, tagNumber } from 'incrawl/plugin';
import { APART, BLOCK, CONCEALED, MUTED, OPAQUE, ROLES } from './element-roles.ts';
import { FoldedBytes } from './folded-bytes.ts';

const BODY = tagNumber('body');
const DIALOG = tagNumber('dialog');
const HTML = tagNumber('html');

/** Reads the text that a page shows; reusable for any number of pages. */
export class VisibleText {
  private readonly visible = new FoldedBytes(1 << 16);
  /** Hidden text and `noscript` text. */
  private readonly concealed = new FoldedBytes(1 << 12);
  private readonly hides = new TextMeanings((style) => Number(HIDING_STYLE.test(style)));
  /** Ends of the outermost muted element, and of the outermost concealed one; -1: none. */
  private mutedTo = -1;
  private concealedTo = -1;

  /**
   * Visible text in reading order; a line per block. The concealed text follows where that is longer: such a page has
   * its content in `noscript`, or in a hidden part that a script reveals.
   */
  read(tape: Tape, maxText: number): string {
    this.visible.begin(maxText);
    this.concealed.begin(maxText);
    this.mutedTo = -1;
    this.concealedTo = -1;
    for (let at = 0; at < tape.length; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) {
        if (this.mutedTo < 0) this.sink.add(tape.bytes, tape.textStart(at), tape.textEnd(at));
      } else if (kind === CLOSE) this.leave(at, ROLES.at(tape.tagEndedAt(at)));
      else if (kind >= 0) {
        const roles = ROLES.at(kind);
        this.enter(tape, at, roles);
        if ((roles & OPAQUE) !== 0) at = tape.closeOf(at) - 1;
      }
    }
    const visible = this.visible.text;
    const concealed = this.concealed.text;
    if (concealed.length <= visible.length) return visible;
    return visible === '' ? concealed : cutText(`${visible}\n${concealed}`, maxText);
  }

  private get sink(): FoldedBytes {
    return this.concealedTo < 0 ? this.visible : this.concealed;
  }

  private enter(tape: Tape, at: number, roles: number): void {
    this.boundary(roles);
    if (this.mutedTo >= 0) return;
    if ((roles & MUTED) !== 0) this.mutedTo = tape.closeOf(at);
    else if (this.concealedTo < 0 && ((roles & CONCEALED) !== 0 || this.isHidden(tape, at))) {
      this.concealedTo = tape.closeOf(at);
    }
  }

  private leave(at: number, roles: number): void {
    if (at === this.mutedTo) this.mutedTo = -1;
    if (at === this.concealedTo) this.concealedTo = -1;
    this.boundary(roles);
  }

  private boundary(roles: number): void {
    if (this.mutedTo >= 0) return;
    if ((roles & BLOCK) !== 0) this.sink.breakLine();
    else if ((roles & APART) !== 0) this.sink.space();
  }

  /** Whether its own attributes hide an element. `html` and `body` never count: a script shows them later. */
  private isHidden(tape: Tape, at: number): boolean {
    const tag = tape.kindAt(at);
    const hidden = tape.find(at, ATTRIBUTE.hidden);
    const style = tape.find(at, ATTRIBUTE.style);
    if (hidden < 0 && style < 0) return tag === DIALOG && tape.find(at, ATTRIBUTE.open) < 0;
    if (tag === HTML || tag === BODY) return false;
    if (hidden >= 0 && tape.valueAt(hidden) !== 'until-found') return true;
    return style >= 0 && this.hides.of(tape.interned, tape.internedAt(style)) === 1;
  }
}
