import type { DocumentWriter } from 'incrawl/plugin';
import { type Attributes, readXml, type XmlHandler } from './read-xml.ts';
import type { ZipParts } from './zip-parts.ts';

/** Writes the text of an OpenDocument file (ISO/IEC 26300): text, sheets, slides or drawings. */
export async function writeOpenDocument(parts: ZipParts, writer: DocumentWriter): Promise<void> {
  const manifest = await parts.read('META-INF/manifest.xml');
  if (manifest?.includes('encryption-data')) throw new Error('the document is encrypted with a password');
  const content = await parts.read('content.xml');
  if (content === null) throw new Error('the document has no content.xml');
  readXml(content, new ContentReader(writer));
}

/** Elements with the same name in HTML, or another one. */
const ELEMENTS: Readonly<Record<string, string>> = {
  list: 'ul',
  'list-item': 'li',
  'list-header': 'li',
  table: 'table',
  'table-row': 'tr',
  'table-cell': 'td',
  page: 'section',
};
/** What is not shown, or is no text of the document. */
const SKIPPED: ReadonlySet<string> = new Set(
  'tracked-changes annotation forms notes sequence-decls variable-decls user-field-decls note-citation ruby-text shapes desc title'.split(
    ' ',
  ),
);
const MAX_SPACES = 100;

class ContentReader implements XmlHandler {
  private readonly writer: DocumentWriter;
  private isBody = false;
  private isSpreadsheet = false;
  private skipping = 0;
  /** Open paragraphs and headings; text stands nowhere else. */
  private paragraphs = 0;
  /** Depth of an open frame that is the title of a slide, in frames. */
  private frames = 0;
  private titleFrame = 0;

  constructor(writer: DocumentWriter) {
    this.writer = writer;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'body') this.isBody = true;
    if (!this.isBody) return;
    if (this.skipping > 0 || SKIPPED.has(name)) {
      this.skipping++;
      return;
    }
    const { writer } = this;
    if (name === 'spreadsheet') this.isSpreadsheet = true;
    else if (name === 'table' && this.isSpreadsheet) writer.element('h2', attributes['table:name'] ?? '');
    const element = ELEMENTS[name];
    if (element !== undefined) {
      writer.open(element);
      return;
    }
    switch (name) {
      case 'h':
      case 'p':
        this.paragraphs++;
        writer.open(this.tagOf(name, attributes));
        break;
      case 'a':
        writer.open('a', { href: withoutPackage(attributes['xlink:href'] ?? '') });
        break;
      case 'frame':
        this.frames++;
        if (/^title$/.test(attributes['presentation:class'] ?? '')) this.titleFrame = this.frames;
        break;
      case 's':
        writer.text(' '.repeat(Math.min(MAX_SPACES, Number(attributes['text:c'] ?? 1) || 1)));
        break;
      case 'tab':
        writer.text(' ');
        break;
      case 'line-break':
        writer.element('br', '');
        break;
    }
  }

  text(data: string): void {
    if (this.paragraphs > 0 && this.skipping === 0) this.writer.text(data);
  }

  close(name: string): void {
    if (!this.isBody) return;
    if (this.skipping > 0) {
      this.skipping--;
      return;
    }
    if (name === 'body') this.isBody = false;
    else if (ELEMENTS[name] !== undefined || name === 'a') this.writer.close();
    else if (name === 'h' || name === 'p') {
      this.paragraphs--;
      this.writer.close();
    } else if (name === 'frame') {
      if (this.titleFrame === this.frames) this.titleFrame = 0;
      this.frames--;
    }
  }

  private tagOf(name: 'h' | 'p', attributes: Attributes): string {
    if (this.titleFrame > 0) return 'h2';
    if (name === 'p') return attributes['text:style-name'] === 'Title' ? 'h1' : 'p';
    const level = Number(attributes['text:outline-level'] ?? 1);
    return `h${Math.min(6, Math.max(1, Math.trunc(level) || 1))}`;
  }
}

/** Relative addresses begin within the package: its folder is one step up. */
const withoutPackage = (href: string): string => (href.startsWith('../') ? href.slice(3) || './' : href);
