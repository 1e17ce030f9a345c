import type { DocumentWriter } from 'incrawl/plugin';

export type ParagraphTag = 'p' | 'li' | `h${1 | 2 | 3 | 4 | 5 | 6}`;

/**
 * Writes paragraphs of formats that reveal the kind of a paragraph and the beginning of a list only within the
 * paragraph, or not at all. An element is opened with its first text, so that empty paragraphs leave none.
 */
export class ParagraphWriter {
  readonly writer: DocumentWriter;
  /** Of the open paragraphs, which nest where a text box stands in one. */
  private readonly open: { tag: ParagraphTag; depth: number }[] = [];
  /** Depths at which lists are open. */
  private readonly lists: number[] = [];

  constructor(writer: DocumentWriter) {
    this.writer = writer;
  }

  begin(tag: ParagraphTag = 'p'): void {
    this.open.push({ tag, depth: -1 });
  }

  /** Sets the kind of the current paragraph, before its first text. */
  setTag(tag: ParagraphTag): void {
    const paragraph = this.open.at(-1);
    if (paragraph !== undefined) paragraph.tag = tag;
  }

  text(data: string): void {
    const paragraph = this.open.at(-1);
    if (paragraph === undefined || data === '') return;
    if (paragraph.depth < 0) this.start(paragraph);
    this.writer.text(data);
  }

  /** A text with or without a link address. */
  linked(data: string, href: string | null): void {
    if (href === null) {
      this.text(data);
      return;
    }
    this.openElement('a', { href });
    this.writer.text(data);
    this.writer.close();
  }

  openElement(name: string, attributes: Readonly<Record<string, string>> = {}): void {
    const paragraph = this.open.at(-1);
    if (paragraph !== undefined && paragraph.depth < 0) this.start(paragraph);
    this.writer.open(name, attributes);
  }

  lineBreak(): void {
    if ((this.open.at(-1)?.depth ?? -1) < 0) return;
    this.writer.open('br');
    this.writer.close();
  }

  end(): void {
    const paragraph = this.open.pop();
    if (paragraph !== undefined && paragraph.depth >= 0) this.writer.closeTo(paragraph.depth);
  }

  /** Opens an element that holds paragraphs: a table, a row, a cell. */
  beginContainer(name: string): void {
    if (name === 'table' || name === 'section') this.endList();
    this.writer.open(name);
  }

  endContainer(): void {
    this.endList();
    this.writer.close();
  }

  endList(): void {
    const depth = this.lists.at(-1);
    if (depth === undefined || depth !== this.writer.depth - 1) return;
    this.lists.pop();
    this.writer.close();
  }

  private start(paragraph: { tag: ParagraphTag; depth: number }): void {
    const isInList = this.lists.at(-1) === this.writer.depth - 1;
    if (paragraph.tag !== 'li') this.endList();
    else if (!isInList) {
      this.lists.push(this.writer.depth);
      this.writer.open('ul');
    }
    paragraph.depth = this.writer.depth;
    this.writer.open(paragraph.tag);
  }
}
