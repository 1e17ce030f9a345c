import type { DocumentWriter } from 'incrawl/plugin';
import { type Attributes, readXml, type XmlHandler } from './read-xml.ts';
import { addressOf, relationshipsOf } from './relationships.ts';
import type { ZipParts } from './zip-parts.ts';

interface CellStyles {
  /** Whether cells of a style show dates or times. */
  isDate(style: number): boolean;
}

/** Formats with fixed numbers that are dates or times (ECMA-376, part 1, 18.8.30). */
const isBuiltInDate = (format: number): boolean =>
  (format >= 14 && format <= 22) ||
  (format >= 27 && format <= 36) ||
  (format >= 45 && format <= 47) ||
  (format >= 50 && format <= 58);

function cellStyles(bytes: Buffer | null): CellStyles {
  const dates = new Set<number>();
  const formats: number[] = [];
  let isCellStyle = false;
  if (bytes !== null) {
    readXml(bytes, {
      open: (name, { numFmtId = '', formatCode = '' }) => {
        if (name === 'cellXfs') isCellStyle = true;
        else if (name === 'numFmt' && isDateFormat(formatCode)) dates.add(Number(numFmtId));
        else if (name === 'xf' && isCellStyle) formats.push(Number(numFmtId));
      },
      close: (name) => {
        if (name === 'cellXfs') isCellStyle = false;
      },
    });
  }
  return {
    isDate: (style) => {
      const format = formats[style];
      return format !== undefined && (isBuiltInDate(format) || dates.has(format));
    },
  };
}

/** Letters of dates and times outside of quotations, conditions and colours. */
const isDateFormat = (code: string): boolean => /[ymdhs]/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, ''));

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Day 0: 1900 is treated as a leap year, so that only days from March 1900 on are right. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);

/** A date, or a date and time, in ISO 8601; `null`: it is out of range, or only a time of day. */
function serialDate(serial: number, is1904: boolean): string | null {
  if (!(serial >= 1 && serial < 2_958_466)) return null;
  const ms = (is1904 ? EPOCH_1904 : EPOCH_1900) + Math.round((serial * DAY_MS) / MINUTE_MS) * MINUTE_MS;
  const [date, time] = new Date(ms).toISOString().split('T') as [string, string];
  return Number.isInteger(serial) ? date : `${date} ${time.slice(0, 5)}`;
}

interface Sheet {
  readonly name: string;
  readonly part: string;
}

/** Writes the displayed sheets of a SpreadsheetML document (ECMA-376, part 1, 18), one table each. */
export async function writeWorkbook(parts: ZipParts, main: string, writer: DocumentWriter): Promise<void> {
  const relationships = await relationshipsOf(parts, main);
  const sheets: Sheet[] = [];
  let is1904 = false;
  readXml((await parts.read(main)) ?? Buffer.alloc(0), {
    open: (name, attributes) => {
      if (name === 'workbookPr') is1904 = ['1', 'true'].includes(attributes.date1904 ?? '');
      const part = name === 'sheet' ? relationships.get(attributes['r:id'] ?? '') : undefined;
      if (part === undefined || /hidden/i.test(attributes.state ?? '')) return;
      sheets.push({ name: attributes.name ?? '', part: part.target });
    },
    close: () => {},
  });
  const partOf = (type: string): string =>
    [...relationships.values()].find((each) => each.type === type && !each.isExternal)?.target ?? '';
  const shared = sharedStrings(await parts.read(partOf('sharedStrings')));
  const styles = cellStyles(await parts.read(partOf('styles')));
  for (const { name, part } of sheets) {
    const bytes = await parts.read(part);
    if (bytes === null) continue;
    const links = await linksOf(parts, part, bytes);
    writer.open('section');
    if (sheets.length > 1) writer.element('h2', name);
    writer.open('table');
    readXml(bytes, new SheetReader({ writer, shared, styles, is1904, links }));
    writer.close();
    writer.close();
  }
}

/** Texts that cells refer to by number; readings of Japanese words (`rPh`) are left out. */
function sharedStrings(bytes: Buffer | null): string[] {
  const strings: string[] = [];
  let [text, isText, skipping] = ['', false, 0];
  if (bytes === null) return strings;
  readXml(bytes, {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') skipping++;
      else if (name === 't') isText = skipping === 0;
    },
    text: (data) => {
      if (isText) text += data;
    },
    close: (name) => {
      if (name === 'si') strings.push(text);
      else if (name === 'rPh') skipping--;
      else if (name === 't') isText = false;
    },
  });
  return strings;
}

/** Link addresses by cell: they come after the cells. */
async function linksOf(parts: ZipParts, part: string, bytes: Buffer): Promise<ReadonlyMap<string, string>> {
  const relationships = await relationshipsOf(parts, part);
  const links = new Map<string, string>();
  if (![...relationships.values()].some(({ type }) => type === 'hyperlink')) return links;
  readXml(bytes, {
    open: (name, attributes) => {
      const href = name === 'hyperlink' ? addressOf(relationships, attributes['r:id']) : null;
      if (href !== null) links.set((attributes.ref ?? '').split(':', 1)[0]!, href);
    },
    close: () => {},
  });
  return links;
}

interface SheetOptions {
  readonly writer: DocumentWriter;
  readonly shared: readonly string[];
  readonly styles: CellStyles;
  readonly is1904: boolean;
  readonly links: ReadonlyMap<string, string>;
}

/** Empty cells between two others that are written, so that columns stay below each other. */
const MAX_GAP = 32;
const FORMULA_LINK = /^\s*HYPERLINK\s*\(\s*"([^"]+)"/i;

class SheetReader implements XmlHandler {
  private readonly options: SheetOptions;
  private cell: Attributes = {};
  private value = '';
  private formula = '';
  private into: 'value' | 'formula' | null = null;
  private column = 0;

  constructor(options: SheetOptions) {
    this.options = options;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'row') {
      this.options.writer.open('tr');
      this.column = 0;
    } else if (name === 'c') {
      this.cell = attributes;
      this.value = '';
      this.formula = '';
    } else if (name === 'v' || name === 't') this.into = 'value';
    else if (name === 'f') this.into = 'formula';
  }

  text(data: string): void {
    if (this.into !== null) this[this.into] += data;
  }

  close(name: string): void {
    if (name === 'row') this.options.writer.close();
    else if (name === 'c') this.endCell();
    else if (name === 'v' || name === 't' || name === 'f') this.into = null;
  }

  private endCell(): void {
    const { writer, links } = this.options;
    const { r = '' } = this.cell;
    const column = columnOf(r) || this.column + 1;
    const text = this.shown();
    if (text.trim() === '') return;
    for (let gap = Math.min(MAX_GAP, column - this.column - 1); gap > 0; gap--) writer.element('td', '');
    this.column = column;
    const href = links.get(r) ?? FORMULA_LINK.exec(this.formula)?.[1];
    writer.open('td');
    if (href === undefined) writer.text(text);
    else {
      writer.open('a', { href });
      writer.text(text);
      writer.close();
    }
    writer.close();
  }

  private shown(): string {
    const { shared, styles, is1904 } = this.options;
    const { t = 'n', s = '' } = this.cell;
    if (t === 's') return shared[Number(this.value)] ?? '';
    if (t === 'b') return this.value === '1' ? 'TRUE' : 'FALSE';
    if (t !== 'n' || this.value === '' || !styles.isDate(Number(s))) return this.value;
    return serialDate(Number(this.value), is1904) ?? this.value;
  }
}

/** Column number of a cell, from 1: 28 for `AB7`; 0: it names none. */
function columnOf(cell: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(cell)?.[0] ?? '') column = 26 * column + letter.charCodeAt(0) - 64;
  return column;
}
