import { ATTRIBUTE, COMMENT, INSTRUCTION, KNOWN_TAGS, knownTag, SECTION, type Tape, TEXT } from 'incrawl/bundled';
import { IN_VALUE, References } from './references.ts';
import { BR, CLOSES_OTHERS, closes, FOREIGN, FOREIGNNESS, P, SLOT, TEMPLATE, VOID } from './tags.ts';

export interface TreeLimits {
  /** Deepest nesting; deeper elements become siblings at this depth, and their text belongs to the parent. */
  readonly maxDepth: number;
  /** Attributes of an element; the rest is ignored. */
  readonly maxAttributes: number;
  /** Nodes of a page; the rest is cut off. */
  readonly maxNodes: number;
}

const MOST_DEPTH = 2_000;
const FIRST_COUNTS = KNOWN_TAGS + 1_024;

/**
 * Nests the tags of a page and writes its nodes on a tape, in time proportional to its length whatever it contains. It
 * follows the rules of htmlparser2's parser, which takes quadratic time for nested and unmatched tags, and adds limits.
 */
export class Nesting {
  isFull = false;
  readonly references = new References();
  private tape!: Tape;
  private limits!: TreeLimits;
  private isXhtml = false;
  private nodes = 0;

  /** Open elements, outermost first: their tags and entries, and whether `<x/>` is a whole element inside. */
  private depth = 0;
  private readonly openTags = new Int32Array(MOST_DEPTH);
  private readonly openEntries = new Int32Array(MOST_DEPTH);
  private readonly openForeign = new Uint8Array(MOST_DEPTH);
  /** How often each tag is in `openTags`: an end tag without a start must not cost a search. */
  private counts = new Int32Array(FIRST_COUNTS);
  /** Elements open beyond the depth limit, by tag. They have no content of their own, so only their end tags matter. */
  private readonly tooDeep = new Map<number, number>();
  private readonly unknownTags = new Map<string, number>();

  /** The current tag, its start, the end of the last token, and its attributes. */
  private tag = 0;
  private tagStart = 0;
  private readTo = 0;
  private firstAttribute = 0;
  private attributeCount = 0;
  /** A bit for each numbered name: the first attribute of a name wins. */
  private attributesSeen = 0;

  begin(tape: Tape, limits: TreeLimits, isXhtml: boolean): void {
    this.tape = tape;
    this.limits = limits;
    this.isXhtml = isXhtml;
    this.isFull = false;
    this.nodes = 0;
    this.depth = 0;
    this.tooDeep.clear();
    this.unknownTags.clear();
    if (this.counts.length > FIRST_COUNTS) this.counts = new Int32Array(FIRST_COUNTS);
    else this.counts.fill(0);
  }

  /** @param pageEnd where the elements that are still open end */
  end(pageEnd: number): void {
    this.readTo = pageEnd;
    while (this.depth > 0) this.endElement();
    this.tape.isTruncated = this.isFull;
  }

  /** @param known as on the tape */
  text(from: number, to: number, known: number): void {
    const { tape } = this;
    const last = tape.length - 1;
    // Adjacent texts are one node: only an end tag without a start was between them.
    if (last >= 0 && tape.kindAt(last) === TEXT && !tape.isSection(last)) {
      if (!this.isFull) tape.extendText(from, to, known);
    } else if (this.count()) tape.addText(from, to, known);
  }

  /** A CDATA section of XHTML. */
  section(from: number, to: number, known: number): void {
    if (this.count()) this.tape.addText(from, to, known | SECTION);
  }

  comment(from: number, to: number): void {
    if (this.count()) this.tape.addMark(COMMENT, from, to);
  }

  /** A declaration or processing instruction, from its mark (`!`, `?`) on. */
  instruction(from: number, to: number): void {
    if (this.count()) this.tape.addMark(INSTRUCTION, from, to);
  }

  /** @param tag of a known name in the range; -1: look it up. Returns the tag. */
  startTag(tag: number, from: number, to: number): number {
    this.tag = tag >= 0 ? tag : this.tagOf(from, to, true);
    this.tagStart = from - 1;
    this.readTo = from - 1;
    if (CLOSES_OTHERS.has(this.tag) && this.tooDeep.size === 0) this.endImplied(this.tag);
    this.firstAttribute = this.tape.nextAttribute;
    this.attributeCount = 0;
    this.attributesSeen = 0;
    return this.tag;
  }

  /** @param name its number, or the negative place of a name without one; the value is a range of the tape's bytes */
  attribute(name: number, from: number, to: number): void {
    if (this.attributeCount++ >= this.limits.maxAttributes) return;
    if (name > 0) {
      if ((this.attributesSeen & (1 << name)) !== 0) return;
      this.attributesSeen |= 1 << name;
    }
    this.tape.addAttribute(name, from, to);
  }

  /** Like {@link attribute}, for a value with character references. @param quote around it; empty: none */
  attributeWithReferences(name: number, from: number, to: number, quote: string): void {
    if (this.attributeCount >= this.limits.maxAttributes) return;
    const { tape, references } = this;
    const end = references.decode(tape, from, to, IN_VALUE, true, quote);
    this.attribute(name, references.start, end);
  }

  endOfStartTag(at: number): void {
    this.readTo = at + 1;
    this.addElement(this.tag, false);
  }

  /** The `>` of `<x/>`. */
  selfClosing(at: number): void {
    this.readTo = at + 1;
    const isForeign = this.depth > 0 && this.openForeign[this.depth - 1] === 1;
    this.addElement(this.tag, this.isXhtml || isForeign || FOREIGNNESS.at(this.tag) === FOREIGN);
  }

  /** @param tag as for {@link startTag}; `close` is the end of the whole end tag */
  endTag(found: number, from: number, to: number, close: number): void {
    const tag = found >= 0 ? found : this.tagOf(from, to, false);
    // Never opened in this page.
    if (tag < 0) return;
    this.tagStart = from - 2;
    this.readTo = from - 2;
    this.firstAttribute = this.tape.nextAttribute;
    if (VOID.has(tag)) {
      if (tag === BR) this.addElement(tag, true);
      return;
    }
    const beyond = this.tooDeep.size === 0 ? undefined : this.tooDeep.get(tag);
    if (beyond !== undefined) {
      if (beyond === 1) this.tooDeep.delete(tag);
      else this.tooDeep.set(tag, beyond - 1);
    } else if (this.counts[tag]! > 0) {
      this.tooDeep.clear();
      do {
        if (this.openTags[this.depth - 1] === tag) this.readTo = close;
      } while (this.endElement() !== tag);
    } else if (tag === P) this.addElement(tag, true);
  }

  /** Whether there is room for another node. */
  private count(): boolean {
    if (this.isFull) return false;
    this.isFull = ++this.nodes > this.limits.maxNodes;
    return !this.isFull;
  }

  private addElement(tag: number, isWhole: boolean): void {
    if (!this.count()) return;
    const { tape } = this;
    const element = tape.addElement(this.nameInTree(tag), this.firstAttribute, this.tagStart);
    if (isWhole || VOID.has(tag) || this.depth >= this.limits.maxDepth - 1) {
      tape.close(element, this.readTo);
      if (!isWhole && !VOID.has(tag)) this.tooDeep.set(tag, (this.tooDeep.get(tag) ?? 0) + 1);
      return;
    }
    const foreign = FOREIGNNESS.at(tag);
    const { depth } = this;
    const around = depth > 0 ? this.openForeign[depth - 1]! : 0;
    this.openTags[depth] = tag;
    this.openEntries[depth] = element;
    this.openForeign[depth] = foreign === 0 ? around : Number(foreign === FOREIGN);
    this.counts[tag]!++;
    this.depth = depth + 1;
  }

  /**
   * A `template` that declares a shadow root is not inert: browsers render its content in its place (WHATWG HTML,
   * "shadowrootmode"), like that of a `slot`, which has no box either.
   */
  private nameInTree(tag: number): number {
    if (tag !== TEMPLATE) return tag;
    const { tape } = this;
    for (let position = this.firstAttribute; position < tape.nextAttribute; position++) {
      if (tape.attributeAt(position) !== ATTRIBUTE.shadowrootmode) continue;
      return /^(?:open|closed)$/i.test(tape.valueAt(position)) ? SLOT : tag;
    }
    return tag;
  }

  private endElement(): number {
    const last = --this.depth;
    const tag = this.openTags[last]!;
    this.counts[tag]!--;
    this.tape.close(this.openEntries[last]!, this.readTo);
    return tag;
  }

  private endImplied(tag: number): void {
    while (this.depth > 0) {
      const open = this.openTags[this.depth - 1]!;
      if (open >= KNOWN_TAGS || !closes(tag, open)) return;
      this.endElement();
    }
  }

  /** The tag of a name that is not a known one as written; -1: none, and none is to be added. */
  private tagOf(from: number, to: number, isNew: boolean): number {
    const name = this.tape.string(from, to).toLowerCase();
    const found = knownTag(name) ?? this.unknownTags.get(name);
    if (found !== undefined) return found;
    if (!isNew) return -1;
    const tag = this.tape.addTag(name);
    this.unknownTags.set(name, tag);
    if (tag >= this.counts.length) {
      const { counts } = this;
      this.counts = new Int32Array(2 * tag);
      this.counts.set(counts);
    }
    return tag;
  }
}
