import type { DocumentWriter } from 'incrawl/plugin';
import { type ParagraphTag, ParagraphWriter } from './paragraph-writer.ts';
import { type Attributes, readXml, type XmlHandler } from './read-xml.ts';
import { addressOf, type Relationship, relationshipsOf } from './relationships.ts';
import type { ZipParts } from './zip-parts.ts';

/** Writes the slides of a PresentationML document (ECMA-376, part 1, 19) in their order, a section each. */
export async function writeSlides(parts: ZipParts, main: string, writer: DocumentWriter): Promise<void> {
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
  /** Of the shape around: what its paragraphs are; `null`: they are left out. */
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
