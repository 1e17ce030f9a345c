import { createRequire } from 'node:module';
import type { Document, Element, Text } from 'domhandler';
import { cutText } from '../../../page/text/cut-text.ts';

/** Loaded by the first document: most threads write none. */
const dom = (): typeof import('domhandler') => createRequire(import.meta.url)('domhandler');

export interface DocumentLimits {
  /** UTF-16 units of text that are kept; the rest is dropped. */
  readonly maxText: number;
  /** Elements and texts that are kept; the rest is dropped. */
  readonly maxNodes?: number;
}

const MAX_NODES = 500_000;
/** Elements are not nested deeper, as in browsers. */
const MAX_DEPTH = 512;

/**
 * Writes the DOM of a document that is no HTML, as HTML that says the same: `h1` to `h6`, `p`, lists, tables, `a`. The
 * writer keeps the limits: what is beyond them is dropped, and `isCut` says so.
 */
export class DocumentWriter {
  readonly document: Document;
  isCut = false;
  private readonly nodes: ReturnType<typeof dom>;
  private readonly opened: Element[] = [];
  /** Open elements that were dropped, all within the last kept one. */
  private dropped = 0;
  private chars: number;
  private left: number;
  private readonly body: Element;

  constructor({ maxText, maxNodes = MAX_NODES }: DocumentLimits) {
    this.chars = maxText;
    this.left = maxNodes;
    this.nodes = dom();
    this.document = new this.nodes.Document([]);
    const html = new this.nodes.Element('html', {});
    this.body = new this.nodes.Element('body', {});
    append(this.document, html);
    append(html, this.body);
  }

  /** Number of open elements. */
  get depth(): number {
    return this.opened.length + this.dropped;
  }

  open(name: string, attribs: Readonly<Record<string, string>> = {}): void {
    if (this.dropped > 0 || this.left <= 0 || this.opened.length >= MAX_DEPTH) {
      this.isCut ||= this.left <= 0;
      this.dropped++;
      return;
    }
    this.left--;
    const element = new this.nodes.Element(name, { ...attribs });
    append(this.opened.at(-1) ?? this.body, element);
    this.opened.push(element);
  }

  /** Closes the element that was opened last. */
  close(): void {
    if (this.dropped > 0) this.dropped--;
    else this.opened.pop();
  }

  /** Closes elements until so many are open. */
  closeTo(depth: number): void {
    while (this.depth > depth) this.close();
  }

  text(data: string): void {
    if (data === '') return;
    const kept = cutText(data, Math.max(0, this.chars));
    this.chars -= data.length;
    if (this.chars < 0 || this.left <= 0) this.isCut = true;
    if (kept === '' || this.left <= 0) return;
    // Text below the deepest element belongs to that.
    const parent = this.opened.at(-1) ?? this.body;
    const last = parent.children.at(-1);
    if (last instanceof this.nodes.Text) last.data += kept;
    else {
      this.left--;
      append(parent, new this.nodes.Text(kept));
    }
  }

  /** An element with a text. */
  element(name: string, text: string): void {
    this.open(name);
    this.text(text);
    this.close();
  }
}

function append(parent: Document | Element, child: Element | Text): void {
  const previous = parent.children.at(-1) ?? null;
  child.parent = parent;
  child.prev = previous;
  if (previous !== null) previous.next = child;
  parent.children.push(child);
}
