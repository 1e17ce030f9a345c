import {
  CDATA,
  type ChildNode,
  Comment,
  Document,
  Element,
  type ParentNode,
  ProcessingInstruction,
  Text,
} from 'domhandler';
import type { MarkupEvents } from './markup-events.ts';
import { scanMarkup } from './markup-scanner.ts';
import { nameInTree, TAGS, type Tag, unknownTag } from './tags.ts';
import { TextBuffer } from './text-buffer.ts';

export interface TreeLimits {
  /** Deepest nesting; deeper elements become siblings at this depth, and their text belongs to the parent. */
  readonly maxDepth: number;
  /** Attributes of an element; the rest is ignored. */
  readonly maxAttributes: number;
  /** Nodes of a page; the rest is cut off. */
  readonly maxNodes: number;
}

export interface Tree {
  readonly document: Document;
  /** The page had more nodes than allowed. */
  readonly truncated: boolean;
}

/**
 * Builds the DOM of a page, in time proportional to its length whatever it contains.
 *
 * htmlparser2's own parser gives the same tree, but takes quadratic time for nested and unmatched tags and has no
 * limits; this one also builds several times as fast. `isXhtml`: `<x/>` is a whole element everywhere, and CDATA
 * sections are text.
 */
export function buildTree(content: string, limits: TreeLimits, isXhtml: boolean): Tree {
  return new TreeBuilder(content, limits, isXhtml).build();
}

/**
 * In HTML a CDATA section is a bogus comment that ends with the next `>` (WHATWG HTML, markup declaration open state);
 * the tokenizer would take all up to `]]>` for it, on some pages everything. Another character makes it a declaration,
 * which ends there; places stay.
 */
const withoutSections = (content: string): string =>
  content.includes('<![CDATA[') ? content.replaceAll('<![CDATA[', '<!:CDATA[') : content;

/** Attribute names cached in lower case; hostile pages have millions. */
const MAX_KNOWN_NAMES = 1000;

/** Names of up to so many letters and digits are looked up by a number, without allocating a string. */
const MAX_PACKED = 5;

/** A name of at most {@link MAX_PACKED} lower-case letters and digits as a number; 0 for all others. */
function packedName(content: string, start: number, end: number): number {
  if (end - start > MAX_PACKED) return 0;
  let packed = 0;
  for (let at = start; at < end; at++) {
    const code = content.charCodeAt(at);
    if (code >= 0x61 && code <= 0x7a) packed = packed * 37 + code - 0x60;
    else if (code >= 0x30 && code <= 0x39) packed = packed * 37 + code - 0x15;
    else return 0;
  }
  return packed;
}

const PACKED_TAGS: ReadonlyMap<number, Tag> = new Map(
  [...TAGS.values()]
    .map((tag) => [packedName(tag.name, 0, tag.name.length), tag] as const)
    .filter(([packed]) => packed > 0),
);

class TreeBuilder implements MarkupEvents {
  private readonly content: string;
  private readonly limits: TreeLimits;
  private readonly isXhtml: boolean;
  private readonly document = new Document([]);
  private parent: ParentNode = this.document;
  private nodes = 0;
  private truncated = false;

  /** Open elements, outermost first, and what is known of each. */
  private readonly open: Element[] = [];
  private readonly openTags: Tag[] = [];
  private readonly openForeign: boolean[] = [];
  /** How often a tag is in `openTags`: an end tag without a start must not cost a search. */
  private readonly openCounts = new Map<Tag, number>();
  /** Elements open beyond the depth limit, by tag. They have no content of their own, so only their end tags matter. */
  private readonly tooDeep = new Map<Tag, number>();

  private readonly unknownTags = new Map<string, Tag>();
  private readonly names = new Map<string, string>();
  private readonly packedNames = new Map<number, string>();
  private readonly characters = new TextBuffer();
  private tag: Tag | null = null;
  /** Start of the current tag, and end of the last token. */
  private tagStart = 0;
  private readTo = 0;
  private attributes: Record<string, string> = {};
  private attributeCount = 0;

  constructor(content: string, limits: TreeLimits, isXhtml: boolean) {
    this.content = isXhtml ? content : withoutSections(content);
    this.limits = limits;
    this.isXhtml = isXhtml;
  }

  build(): Tree {
    scanMarkup(this.content, this);
    this.endText();
    for (const element of this.open) element.endIndex = this.content.length - 1;
    return { document: this.document, truncated: this.truncated };
  }

  get isFull(): boolean {
    return this.truncated;
  }

  text(data: string): void {
    this.characters.add(data);
  }

  openTagName(start: number, end: number): string | null {
    const tag = this.findTag(start, end) ?? this.newTag(start, end);
    this.tag = tag;
    this.tagStart = start - 1;
    this.readTo = start - 1;
    if (tag.ends !== null && this.tooDeep.size === 0) this.endImplied(tag.ends);
    this.attributes = {};
    this.attributeCount = 0;
    return tag.hasCharacters ? tag.name : null;
  }

  attribute(start: number, end: number, value: string): void {
    const count = this.attributeCount++;
    if (count >= this.limits.maxAttributes) return;
    const name = this.nameOf(start, end);
    // The first attribute of a name wins.
    if (count === 0 || !Object.hasOwn(this.attributes, name)) this.attributes[name] = value;
  }

  openTagEnd(at: number): void {
    this.readTo = at + 1;
    this.addElement(this.tag!, this.attributes, false);
  }

  selfClosingTag(at: number): void {
    this.readTo = at + 1;
    const isWhole = this.isXhtml || this.openForeign.at(-1) === true || this.tag!.foreign === true;
    this.addElement(this.tag!, this.attributes, isWhole);
  }

  closeTag(start: number, end: number): void {
    const tag = this.findTag(start, end);
    // Never opened in this page.
    if (tag === undefined) return;
    this.tagStart = start - 2;
    this.readTo = start - 2;
    const close = this.content.indexOf('>', end) + 1 || this.content.length;
    if (tag.isVoid) {
      if (tag.name === 'br') this.addElement(tag, {}, true);
      return;
    }
    const beyond = this.tooDeep.get(tag);
    if (beyond !== undefined) {
      if (beyond === 1) this.tooDeep.delete(tag);
      else this.tooDeep.set(tag, beyond - 1);
      return;
    }
    if ((this.openCounts.get(tag) ?? 0) > 0) {
      this.tooDeep.clear();
      let last: Tag | undefined;
      do {
        if (this.openTags.at(-1) === tag) this.readTo = close;
        last = this.endElement();
      } while (last !== tag);
    } else if (tag.name === 'p') this.addElement(tag, {}, true);
  }

  comment(data: string): void {
    this.endText();
    this.append(new Comment(data));
  }

  /** In XHTML only: in HTML there are none left. */
  cdata(data: string): void {
    this.endText();
    const text = new Text(data);
    const section = new CDATA([text]);
    text.parent = section;
    this.append(section);
  }

  declaration(data: string): void {
    this.addInstruction('!', data);
  }

  processingInstruction(data: string): void {
    this.addInstruction('?', data);
  }

  // The tree.

  private addElement(tag: Tag, attributes: Record<string, string>, isWhole: boolean): void {
    this.endText();
    const element = new Element(nameInTree(tag, attributes), attributes);
    element.startIndex = this.tagStart;
    element.endIndex = this.readTo - 1;
    this.append(element);
    if (isWhole || tag.isVoid) return;
    if (this.open.length >= this.limits.maxDepth - 1) {
      this.tooDeep.set(tag, (this.tooDeep.get(tag) ?? 0) + 1);
      return;
    }
    this.open.push(element);
    this.openTags.push(tag);
    this.openForeign.push(tag.foreign ?? this.openForeign.at(-1) ?? false);
    this.openCounts.set(tag, (this.openCounts.get(tag) ?? 0) + 1);
    this.parent = element;
  }

  private endElement(): Tag {
    this.endText();
    const element = this.open.pop();
    if (element !== undefined) element.endIndex = this.readTo - 1;
    this.openForeign.pop();
    const tag = this.openTags.pop()!;
    this.openCounts.set(tag, this.openCounts.get(tag)! - 1);
    this.parent = this.open.at(-1) ?? this.document;
    return tag;
  }

  private endImplied(ended: ReadonlySet<string>): void {
    while (this.openTags.length > 0 && ended.has(this.openTags.at(-1)!.name)) this.endElement();
  }

  private endText(): void {
    if (!this.characters.isEmpty) this.append(new Text(this.characters.take()));
  }

  private addInstruction(mark: string, value: string): void {
    this.endText();
    const end = value.search(/[\s/]/);
    const name = (end < 0 ? value : value.slice(0, end)).toLowerCase();
    this.append(new ProcessingInstruction(mark + name, mark + value));
  }

  private append(node: ChildNode): void {
    if (this.truncated) return;
    if (++this.nodes > this.limits.maxNodes) {
      this.truncated = true;
      return;
    }
    const { parent } = this;
    const { children } = parent;
    const previous = children.length === 0 ? undefined : children[children.length - 1];
    node.parent = parent;
    if (previous !== undefined) {
      previous.next = node;
      node.prev = previous;
    }
    children.push(node);
  }

  // Names.

  private findTag(start: number, end: number): Tag | undefined {
    const packed = packedName(this.content, start, end);
    const short = packed === 0 ? undefined : PACKED_TAGS.get(packed);
    if (short !== undefined) return short;
    const written = this.content.slice(start, end);
    const found = TAGS.get(written) ?? this.unknownTags.get(written);
    if (found !== undefined) return found;
    const name = written.toLowerCase();
    return name === written ? undefined : (TAGS.get(name) ?? this.unknownTags.get(name));
  }

  private newTag(start: number, end: number): Tag {
    const tag = unknownTag(this.content.slice(start, end).toLowerCase());
    this.unknownTags.set(tag.name, tag);
    return tag;
  }

  private nameOf(start: number, end: number): string {
    const packed = packedName(this.content, start, end);
    const short = packed === 0 ? undefined : this.packedNames.get(packed);
    if (short !== undefined) return short;
    const written = this.content.slice(start, end);
    const known = this.names.get(written);
    if (known !== undefined) return known;
    const name = written.toLowerCase();
    if (this.names.size + this.packedNames.size < MAX_KNOWN_NAMES) {
      if (packed === 0) this.names.set(written, name);
      else this.packedNames.set(packed, name);
    }
    return name;
  }
}
