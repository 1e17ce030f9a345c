import type { ChildNode, Document, Element, ParentNode } from 'domhandler';
import { cutText } from 'incrawl/plugin';
import { APART, BLOCK, CONCEALED, MUTED, OPAQUE, rolesOf, SPECIAL } from './element-roles.ts';
import { FoldedText, foldText } from './folded-text.ts';
import { readLinkElement } from './link-element.ts';
import { readMeta } from './meta-element.ts';
import { emptyFacts, type PageFacts, type RawLink } from './page-facts.ts';

export interface WalkOptions {
  readonly maxText: number;
  readonly maxLinks: number;
  /** Agents whose `meta` robots lines apply, lower case: `robots` and our own. */
  readonly agents: ReadonlySet<string>;
}

export const MAX_TITLE = 1024;
export const MAX_ANCHOR = 256;

/** Reads a page in document order, once, without recursion: pages nest deeper than a call stack allows. */
export function walkPage(document: Document, options: WalkOptions): PageFacts {
  const walk = new PageWalk(options);
  // Roles of the open elements, by depth.
  const open: number[] = [];
  let node: ChildNode | null = document.children[0] ?? null;
  while (node !== null) {
    if (node.type === 'text') walk.text((node as { data: string }).data);
    else if (isParent(node)) {
      const roles = node.type === 'cdata' ? 0 : walk.enter(node as Element, open.length);
      const first = node.children[0];
      if (first !== undefined && (roles & OPAQUE) === 0) {
        open.push(roles);
        node = first;
        continue;
      }
      walk.leave(node, roles, open.length);
    }
    while (node.next === null) {
      const parent: ParentNode | null = node.parent;
      if (parent === null || parent === document || open.length === 0) return walk.end();
      node = parent as ChildNode;
      walk.leave(node, open.pop()!, open.length);
    }
    node = node.next;
  }
  return walk.end();
}

function isParent(node: ChildNode): node is ChildNode & ParentNode {
  return 'children' in node;
}

class PageWalk {
  private readonly options: WalkOptions;
  private readonly maxRawLinks: number;
  private readonly facts = emptyFacts();
  private readonly visible: FoldedText;
  /** Hidden text and `noscript` text. */
  private readonly concealed: FoldedText;
  /** Depth of the outermost concealed element, and of the outermost muted one; -1: none. */
  private concealedAt = -1;
  private mutedAt = -1;
  private anchor: { element: Element; link: RawLink; text: FoldedText; alt: string } | null = null;

  constructor(options: WalkOptions) {
    this.options = options;
    // Duplicates are merged when links are resolved; until then they need memory.
    this.maxRawLinks = 4 * options.maxLinks;
    this.visible = new FoldedText(options.maxText);
    this.concealed = new FoldedText(options.maxText);
  }

  text(data: string): void {
    if (this.mutedAt < 0) this.sink.add(data);
    this.anchor?.text.add(data);
  }

  /** Returns the roles of the element. */
  enter(element: Element, depth: number): number {
    const roles = rolesOf(element.name);
    this.boundary(roles);
    if (this.mutedAt < 0) {
      if ((roles & MUTED) !== 0) this.mutedAt = depth;
      else if (this.concealedAt < 0 && ((roles & CONCEALED) !== 0 || isHidden(element))) this.concealedAt = depth;
    }
    if ((roles & SPECIAL) !== 0) this.special(element);
    return roles;
  }

  leave(node: ChildNode, roles: number, depth: number): void {
    if (this.anchor?.element === node) this.endAnchor();
    if (depth === this.mutedAt) this.mutedAt = -1;
    if (depth === this.concealedAt) this.concealedAt = -1;
    this.boundary(roles);
  }

  end(): PageFacts {
    this.endAnchor();
    this.facts.text = this.readableText();
    return this.facts;
  }

  private get sink(): FoldedText {
    return this.concealedAt < 0 ? this.visible : this.concealed;
  }

  /**
   * The visible text, followed by the concealed text where that is longer: such a page has its content in `noscript`,
   * or in a hidden part that a script reveals.
   */
  private readableText(): string {
    const visible = this.visible.text;
    const concealed = this.concealed.text;
    if (concealed.length <= visible.length) return visible;
    return visible === '' ? concealed : cutText(`${visible}\n${concealed}`, this.options.maxText);
  }

  private boundary(roles: number): void {
    if ((roles & (BLOCK | APART)) === 0) return;
    if (this.mutedAt < 0) {
      if ((roles & BLOCK) !== 0) this.sink.breakLine();
      else this.sink.space();
    }
    this.anchor?.text.space();
  }

  private special(element: Element): void {
    const { attribs } = element;
    switch (element.name) {
      case 'a':
        this.startAnchor(element);
        break;
      case 'img':
        if (this.anchor !== null) this.anchor.alt ||= attribs.alt ?? '';
        break;
      case 'area':
        this.addLink(attribs.href, 'link', attribs.rel, attribs.alt);
        break;
      case 'frame':
      case 'iframe':
        this.addLink(attribs.src, 'frame', undefined, attribs.title);
        break;
      case 'link':
        readLinkElement(attribs, (rel, lang) => this.addLink(attribs.href, rel, attribs.rel, attribs.title, lang));
        break;
      case 'meta':
        readMeta(attribs, this.facts, this.options.agents, (url) => this.addLink(url, 'refresh', undefined, ''));
        break;
      case 'base':
        this.facts.baseHref ??= attribs.href ?? null;
        break;
      case 'html':
        this.facts.lang ??= attribs.lang ?? attribs['xml:lang'] ?? null;
        break;
      case 'title':
        this.readTitle(element);
        break;
    }
  }

  private readTitle(element: Element): void {
    // Inside svg it names a drawing.
    if (this.mutedAt >= 0 || this.facts.title !== null) return;
    const text = element.children.map((child) => (child.type === 'text' ? child.data : '')).join('');
    this.facts.title = foldText(text, MAX_TITLE) || null;
  }

  private startAnchor(element: Element): void {
    const { attribs } = element;
    // An anchor ends the one before, as in browsers, even where its end tag is missing.
    this.endAnchor();
    // In drawings links may be written the older way, which browsers follow there and nowhere else.
    const href = attribs.href ?? (this.mutedAt >= 0 ? attribs['xlink:href'] : undefined);
    const link = this.addLink(href, 'link', attribs.rel, '', undefined, element);
    if (link === null) return;
    this.anchor = { element, link, text: new FoldedText(MAX_ANCHOR), alt: '' };
  }

  private endAnchor(): void {
    if (this.anchor === null) return;
    const { element, link, text, alt } = this.anchor;
    this.anchor = null;
    const { title, 'aria-label': label } = element.attribs;
    link.anchor = text.text || foldText(alt || label || title || '', MAX_ANCHOR);
  }

  private addLink(
    href: string | undefined,
    rel: RawLink['rel'],
    relations: string | undefined,
    anchor: string | undefined,
    lang?: string,
    element?: Element,
  ): RawLink | null {
    if (href === undefined || this.facts.links.length >= this.maxRawLinks) return null;
    const nofollow = relations !== undefined && NOFOLLOW.test(relations);
    const folded = anchor ? foldText(anchor, MAX_ANCHOR) : '';
    const link: RawLink = { href, rel, nofollow, lang, anchor: folded, ...(element && { element }) };
    this.facts.links.push(link);
    return link;
  }
}

const NOFOLLOW = /(?:^|\s)(?:nofollow|ugc|sponsored)(?:\s|$)/i;
const HIDING_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i;

/** Whether its own attributes hide an element. `html` and `body` never count: a script shows them later. */
function isHidden({ name, attribs }: Element): boolean {
  const { hidden, style } = attribs;
  if (hidden === undefined && style === undefined) return name === 'dialog' && attribs.open === undefined;
  if (name === 'html' || name === 'body') return false;
  return (hidden !== undefined && hidden !== 'until-found') || (style !== undefined && HIDING_STYLE.test(style));
}
