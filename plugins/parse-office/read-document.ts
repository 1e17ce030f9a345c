import type { DocumentFacts, DocumentWriter } from 'incrawl/plugin';
import { timeOf, writeEpub } from './epub.ts';
import { type ParagraphTag, ParagraphWriter } from './paragraph-writer.ts';
import { type Attributes, readXml, textsIn, type XmlHandler } from './read-xml.ts';
import { addressOf, type Relationship, relationshipsOf } from './relationships.ts';
import { writeWord } from './word-document.ts';
import { writeWorkbook } from './workbook.ts';
import type { ZipParts } from './zip-parts.ts';

/** Writes the slides of a PresentationML document (ECMA-376, part 1, 19) in order, one section each. */
async function writeSlides(parts: ZipParts, main: string, writer: DocumentWriter): Promise<void> {
  const relationships = await relationshipsOf(parts, main);
  const order: string[] = [];
  readXml((await parts.read(main)) ?? Buffer.alloc(0), {
    open: (name, attributes) => {
      const slide = name === 'sldId' ? relationships.get(attributes['r:id'] ?? '') : undefined;
      if (slide !== undefined) order.push(slide.target);
    },
    close: () => {},
  });
  for (const slide of order) {
    const bytes = await parts.read(slide);
    if (bytes !== null) readXml(bytes, new SlideReader(writer, await relationshipsOf(parts, slide)));
  }
}

/** Placeholders that repeat on every slide. */
const AROUND: ReadonlySet<string> = new Set(['sldNum', 'dt', 'ftr', 'hdr']);
const CONTAINERS: Readonly<Record<string, string>> = { sld: 'section', tbl: 'table', tr: 'tr', tc: 'td' };

class SlideReader implements XmlHandler {
  private readonly paragraphs: ParagraphWriter;
  private readonly relationships: ReadonlyMap<string, Relationship>;
  /** The kind of the paragraphs in the current shape; `null`: they are left out. */
  private tag: ParagraphTag | null = 'p';
  private href: string | null = null;
  private isText = false;
  private isHidden = false;
  private skipping = 0;

  constructor(writer: DocumentWriter, relationships: ReadonlyMap<string, Relationship>) {
    this.paragraphs = new ParagraphWriter(writer);
    this.relationships = relationships;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'sld' && attributes.show === '0') this.isHidden = true;
    if (this.isHidden || this.skipping > 0 || name === 'Fallback') {
      this.skipping++;
      return;
    }
    const container = CONTAINERS[name];
    if (container !== undefined) {
      this.paragraphs.beginContainer(container);
      return;
    }
    if (name === 'sp') this.tag = 'p';
    else if (name === 'ph') this.tag = tagOf(attributes.type ?? 'body');
    else if (name === 'p') this.paragraphs.begin(this.tag ?? 'p');
    else if (name === 'r' || name === 'fld') this.href = null;
    else if (name === 'hlinkClick') this.href = addressOf(this.relationships, attributes['r:id']);
    else if (name === 't') this.isText = this.tag !== null;
    else if (name === 'br') this.paragraphs.lineBreak();
  }

  text(data: string): void {
    if (this.isText && this.skipping === 0) this.paragraphs.linked(data, this.href);
  }

  close(name: string): void {
    if (this.skipping > 0) {
      this.skipping--;
      return;
    }
    if (CONTAINERS[name] !== undefined) {
      this.paragraphs.endContainer();
      return;
    }
    if (name === 't') this.isText = false;
    else if (name === 'p') this.paragraphs.end();
    else if (name === 'sp') {
      this.paragraphs.endList();
      this.tag = 'p';
    }
  }
}

function tagOf(placeholder: string): ParagraphTag | null {
  if (AROUND.has(placeholder)) return null;
  if (placeholder === 'title' || placeholder === 'ctrTitle') return 'h2';
  return placeholder === 'subTitle' ? 'p' : 'li';
}

/** Writes the text of an OpenDocument file (ISO/IEC 26300): text, sheets, slides or drawings. */
async function writeOpenDocument(parts: ZipParts, writer: DocumentWriter): Promise<void> {
  const manifest = await parts.read('META-INF/manifest.xml');
  if (manifest?.includes('encryption-data')) throw new Error('the document is encrypted with a password');
  const content = await parts.read('content.xml');
  if (content === null) throw new Error('the document has no content.xml');
  readXml(content, new ContentReader(writer));
}

/** HTML names of elements, equal or different. */
const ELEMENTS: Readonly<Record<string, string>> = {
  list: 'ul',
  'list-item': 'li',
  'list-header': 'li',
  table: 'table',
  'table-row': 'tr',
  'table-cell': 'td',
  page: 'section',
};
/** Elements that are not displayed, or are not text of the document. */
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
  /** Number of open paragraphs and headings; text occurs only inside these. */
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

/**
 * Writes what a document shows, by its actual rather than its declared type, and returns what it states about itself.
 */
export async function readDocument(parts: ZipParts, writer: DocumentWriter): Promise<DocumentFacts> {
  if (parts.has('META-INF/container.xml')) return await writeEpub(parts, writer);
  if (parts.has('content.xml')) {
    await writeOpenDocument(parts, writer);
    return openDocumentFacts(await parts.read('meta.xml'));
  }
  const relationships = [...(await relationshipsOf(parts, '')).values()];
  const main = relationships.find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined) throw new Error('the ZIP file is neither an office document nor an EPUB');
  if (main.startsWith('word/')) await writeWord(parts, main, writer);
  else if (main.startsWith('ppt/')) await writeSlides(parts, main, writer);
  else if (main.startsWith('xl/')) await writeWorkbook(parts, main, writer);
  else throw new Error(`this kind of document is not supported: ${main}`);
  const core = relationships.find(({ type }) => type === 'core-properties')?.target;
  return coreFacts(core === undefined ? null : await parts.read(core));
}

/** Core properties (ECMA-376, part 2, 11). */
function coreFacts(bytes: Buffer | null): DocumentFacts {
  const texts = textsIn(bytes);
  const first = (name: string): string | null => texts(name)[0] ?? null;
  return {
    title: first('title'),
    authors: (first('creator') ?? '').split(';'),
    description: first('description') ?? first('subject'),
    keywords: (first('keywords') ?? '').split(/[;,]/),
    lang: first('language'),
    publishedAt: timeOf(first('created')),
    modifiedAt: timeOf(first('modified')),
    source: 'core properties',
  };
}

function openDocumentFacts(bytes: Buffer | null): DocumentFacts {
  const texts = textsIn(bytes);
  const first = (name: string): string | null => texts(name)[0] ?? null;
  const author = first('initial-creator') ?? first('creator');
  return {
    title: first('title'),
    authors: author === null ? [] : [author],
    description: first('description') ?? first('subject'),
    keywords: texts('keyword'),
    lang: first('language'),
    publishedAt: timeOf(first('creation-date')),
    modifiedAt: timeOf(first('date')),
    source: 'meta.xml',
  };
}
