import type { DocumentWriter } from 'incrawl/plugin';
import { ParagraphWriter } from './paragraph-writer.ts';
import { type Attributes, readXml, type XmlHandler } from './read-xml.ts';
import { addressOf, type Relationship, relationshipsOf } from './relationships.ts';
import type { ZipParts } from './zip-parts.ts';

interface HeadingStyles {
  /** Heading level of a style, 1 to 9; 0: it is not a heading style. */
  levelOf(styleId: string): number;
}

interface Style {
  name: string;
  basedOn: string | null;
  /** Outline level, from 0; `null`: none is stated. */
  outline: number | null;
}

/** Styles may be based on each other in a circle. */
const MAX_STEPS = 16;

/** Which styles of a WordprocessingML document are headings: by their outline level, or by the names of Word. */
function headingStyles(bytes: Buffer | null): HeadingStyles {
  const styles = new Map<string, Style>();
  let open: Style | null = null;
  if (bytes !== null) {
    readXml(bytes, {
      open: (name, attributes) => {
        const value = attributes['w:val'] ?? '';
        if (name === 'style') {
          open = { name: '', basedOn: null, outline: null };
          styles.set(attributes['w:styleId'] ?? '', open);
        } else if (open === null) return;
        else if (name === 'name') open.name = value;
        else if (name === 'basedOn') open.basedOn = value;
        else if (name === 'outlineLvl') open.outline = Number(value);
      },
      close: (name) => {
        if (name === 'style') open = null;
      },
    });
  }
  return {
    levelOf: (styleId) => {
      let at: string | null = styleId;
      for (let step = 0; at !== null && step < MAX_STEPS; step++) {
        const style = styles.get(at);
        const level = levelOfName(style?.name ?? at);
        if (style?.outline !== null && style?.outline !== undefined) return style.outline <= 8 ? style.outline + 1 : 0;
        if (level > 0) return level;
        at = style?.basedOn ?? null;
      }
      return 0;
    },
  };
}

function levelOfName(name: string): number {
  if (/^title$/i.test(name)) return 1;
  return Number(/^heading\s?([1-9])$/i.exec(name)?.[1] ?? 0);
}

/** Writes the text of a WordprocessingML document (ECMA-376, part 1, 17), with its foot- and endnotes at the end. */
export async function writeWord(parts: ZipParts, main: string, writer: DocumentWriter): Promise<void> {
  const relationships = await relationshipsOf(parts, main);
  const partOf = (type: string): string | undefined =>
    [...relationships.values()].find((each) => each.type === type && !each.isExternal)?.target;
  const styles = headingStyles(await parts.read(partOf('styles') ?? ''));
  for (const part of [main, partOf('footnotes'), partOf('endnotes')]) {
    const bytes = part === undefined ? null : await parts.read(part);
    if (bytes === null) continue;
    const own = part === main ? relationships : await relationshipsOf(parts, part!);
    readXml(bytes, new WordReader(writer, styles, own));
  }
}

const CONTAINERS: Readonly<Record<string, string>> = { tbl: 'table', tr: 'tr', tc: 'td' };
/** Elements whose content is not shown, or is shown by another element as well. */
const SKIPPED: ReadonlySet<string> = new Set(['del', 'moveFrom', 'Fallback', 'rubyPr', 'rt']);
const HYPERLINK = /^\s*HYPERLINK\s+(?:\\[a-z]\s+)*"?([^"\s]+)/i;

class WordReader implements XmlHandler {
  private readonly paragraphs: ParagraphWriter;
  private readonly styles: HeadingStyles;
  private readonly relationships: ReadonlyMap<string, Relationship>;
  private skipping = 0;
  private isText = false;
  private isInstruction = false;
  /** Addresses of the enclosing hyperlink and of the enclosing field; `null`: none. */
  private linked: string | null = null;
  private readonly fields: { instruction: string; href: string | null }[] = [];
  private simpleField: string | null = null;

  constructor(writer: DocumentWriter, styles: HeadingStyles, relationships: ReadonlyMap<string, Relationship>) {
    this.paragraphs = new ParagraphWriter(writer);
    this.styles = styles;
    this.relationships = relationships;
  }

  open(name: string, attributes: Attributes): void {
    if (this.skipping > 0 || SKIPPED.has(name) || isSeparator(name, attributes)) {
      this.skipping++;
      return;
    }
    const { paragraphs } = this;
    const container = CONTAINERS[name];
    if (container !== undefined) {
      paragraphs.beginContainer(container);
      return;
    }
    switch (name) {
      case 'p':
        paragraphs.begin();
        break;
      case 'pStyle':
        this.setLevel(this.styles.levelOf(attributes['w:val'] ?? ''));
        break;
      case 'outlineLvl':
        this.setLevel(Number(attributes['w:val']) + 1);
        break;
      case 'numId':
        if (attributes['w:val'] !== '0' && !this.isHeading) paragraphs.setTag('li');
        break;
      case 't':
        this.isText = true;
        break;
      case 'tab':
        this.write(' ');
        break;
      case 'br':
      case 'cr':
        paragraphs.lineBreak();
        break;
      case 'noBreakHyphen':
        this.write('-');
        break;
      case 'hyperlink':
        this.linked = addressOf(this.relationships, attributes['r:id']);
        break;
      case 'fldSimple':
        this.simpleField = HYPERLINK.exec(attributes['w:instr'] ?? '')?.[1] ?? null;
        break;
      case 'instrText':
        this.isInstruction = true;
        break;
      case 'fldChar':
        this.turnField(attributes['w:fldCharType'] ?? '');
    }
  }

  text(data: string): void {
    if (this.skipping > 0) return;
    const field = this.fields.at(-1);
    if (this.isInstruction && field !== undefined) field.instruction += data.slice(0, 4_096);
    else if (this.isText) this.write(data);
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
    if (name === 'p') {
      this.paragraphs.end();
      this.isHeading = false;
    } else if (name === 't') this.isText = false;
    else if (name === 'instrText') this.isInstruction = false;
    else if (name === 'hyperlink') this.linked = null;
    else if (name === 'fldSimple') this.simpleField = null;
    else if (name === 'body' || name === 'footnotes' || name === 'endnotes') this.paragraphs.endList();
  }

  /** A heading stays one, whatever its numbering. */
  private isHeading = false;

  private setLevel(level: number): void {
    if (!(level >= 1 && level <= 9)) return;
    this.isHeading = true;
    this.paragraphs.setTag(`h${Math.min(6, level) as 1}`);
  }

  private write(data: string): void {
    const field = this.fields.find(({ href }) => href !== null)?.href ?? null;
    this.paragraphs.linked(data, this.linked ?? this.simpleField ?? field);
  }

  /** Fields nest; the text before their separator is the instruction (17.16.18). */
  private turnField(type: string): void {
    if (type === 'begin') this.fields.push({ instruction: '', href: null });
    else if (type === 'end') this.fields.pop();
    else {
      const field = this.fields.at(-1);
      if (field !== undefined) field.href = HYPERLINK.exec(field.instruction)?.[1] ?? null;
    }
  }
}

/** Lines that are drawn between text and notes. */
const isSeparator = (name: string, attributes: Attributes): boolean =>
  (name === 'footnote' || name === 'endnote') && /separator/i.test(attributes['w:type'] ?? '');
