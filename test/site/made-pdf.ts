import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** A line of text at a place, in points from the lower left corner of an A4 page. */
export interface MadeLine {
  readonly text: string;
  readonly x?: number;
  readonly y: number;
  readonly size?: number;
  /**
   * `latin`: Helvetica, WinAnsi. `cjk`: a font that is not embedded, by a predefined character map (Adobe-GB1).
   * `unicode`: by a ToUnicode map, glyphs from left to right.
   */
  readonly font?: keyof typeof FONTS;
}

export interface MadePage {
  readonly lines: readonly MadeLine[];
  readonly links?: readonly { readonly uri: string; readonly rect: readonly [number, number, number, number] }[];
  /** Bytes of the content stream as they stand in the file, with their filters, in place of {@link lines}. */
  readonly content?: { readonly data: Uint8Array; readonly filters: readonly string[] };
}

export interface MadePdf {
  readonly pages: readonly MadePage[];
  /** Entries of the document information. */
  readonly info?: Readonly<Record<string, string>>;
  readonly lang?: string;
  /** Encrypts it (RC4, 40 bits); an empty user password opens it without a question. */
  readonly password?: string;
  /** The cross-reference table points to wrong places. */
  readonly hasBrokenXref?: boolean;
}

const FONTS = { latin: 'F1', cjk: 'F2', unicode: 'F3' } as const;
const [CATALOG, PAGES, INFO, LATIN, CJK, CJK_PART, UNICODE, UNICODE_PART, TO_UNICODE, FIRST] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const;
const OBJECTS_PER_PAGE = 2;

const TO_UNICODE_MAP = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfrange <0020> <00FF> <0020> <0100> <FFFF> <0100> endbfrange endcmap end end`;

/** Writes a PDF 1.4. */
export function madePdf({ pages, info = {}, lang, password, hasBrokenXref = false }: MadePdf): Buffer {
  const keys = password === undefined ? null : encryption(password);
  const file = new PdfFile(keys?.key ?? null);
  const pageAt = (page: number): number => FIRST + OBJECTS_PER_PAGE * page;
  file.add(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R ${lang ? `/Lang ${file.string(CATALOG, lang)}` : ''} >>`);
  const kids = pages.map((_, page) => `${pageAt(page)} 0 R`).join(' ');
  file.add(PAGES, `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`);
  const entries = Object.entries(info).map(([name, value]) => `/${name} ${file.string(INFO, value)}`);
  file.add(INFO, `<< ${entries.join(' ')} >>`);
  file.add(LATIN, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  const descendant = (ordering: string, name: string): string =>
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${name} /DW 1000 /CIDToGIDMap /Identity
    /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 0 >>
    /FontDescriptor << /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0
    /Ascent 900 /Descent -100 /CapHeight 700 /StemV 80 >> >>`;
  const composite = (name: string, encoding: string, part: number, more = ''): string =>
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /${encoding} /DescendantFonts [${part} 0 R] ${more} >>`;
  file.add(CJK, composite('STSong-Light', 'UniGB-UCS2-H', CJK_PART));
  file.add(CJK_PART, descendant('GB1', 'STSong-Light'));
  file.add(UNICODE, composite('Made', 'Identity-H', UNICODE_PART, `/ToUnicode ${TO_UNICODE} 0 R`));
  file.add(UNICODE_PART, descendant('Identity', 'Made'));
  file.addStream(TO_UNICODE, '', Buffer.from(TO_UNICODE_MAP));
  for (const [number, page] of pages.entries()) addPage(file, pageAt(number), page);
  return file.end(keys, hasBrokenXref);
}

function addPage(file: PdfFile, at: number, { lines, links = [], content }: MadePage): void {
  const annotations = links.map(
    ({ uri, rect }) =>
      `<< /Type /Annot /Subtype /Link /Rect [${rect.join(' ')}] /A << /S /URI /URI ${file.string(at, uri)} >> >>`,
  );
  file.add(
    at,
    `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox [0 0 595 842] /Contents ${at + 1} 0 R /Annots [${annotations.join(' ')}]
    /Resources << /Font << /F1 ${LATIN} 0 R /F2 ${CJK} 0 R /F3 ${UNICODE} 0 R >> >> >>`,
  );
  const text = Buffer.from(`BT\n${lines.map(lineOperators).join('')}ET\n`, 'latin1');
  const { data, filters } = content ?? { data: deflateSync(text), filters: ['FlateDecode'] };
  file.addStream(at + 1, `/Filter [${filters.map((name) => `/${name}`).join(' ')}]`, Buffer.from(data));
}

function lineOperators({ text, x = 72, y, size = 11, font = 'latin' }: MadeLine): string {
  const shown =
    font === 'latin'
      ? literal(Buffer.from(text, 'latin1'))
      : `<${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
  return `/${FONTS[font]} ${size} Tf\n1 0 0 1 ${x} ${y} Tm\n${shown} Tj\n`;
}

const literal = (bytes: Buffer): string => `(${bytes.toString('latin1').replaceAll(/[\\()\r]/g, '\\$&')})`;

class PdfFile {
  private readonly parts: Buffer[] = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  private readonly places: number[] = [];
  private length = this.parts[0]!.length;
  private readonly key: Buffer | null;

  constructor(key: Buffer | null) {
    this.key = key;
  }

  string(object: number, text: string): string {
    const isAscii = /^[\x20-\x7e]*$/.test(text);
    const bytes = isAscii
      ? Buffer.from(text)
      : Buffer.concat([Buffer.from('feff', 'hex'), Buffer.from(text, 'utf16le').swap16()]);
    return `<${this.encrypted(object, bytes).toString('hex')}>`;
  }

  add(object: number, body: string): void {
    this.places[object] = this.length;
    this.write(Buffer.from(`${object} 0 obj\n${body}\nendobj\n`, 'latin1'));
  }

  addStream(object: number, dictionary: string, data: Buffer): void {
    this.places[object] = this.length;
    this.write(Buffer.from(`${object} 0 obj\n<< /Length ${data.length} ${dictionary} >>\nstream\n`));
    this.write(this.encrypted(object, data));
    this.write(Buffer.from('\nendstream\nendobj\n'));
  }

  end(keys: Encryption | null, hasBrokenXref: boolean): Buffer {
    const encrypt = this.places.length;
    if (keys !== null) {
      const [owner, user] = [keys.owner, keys.user].map((each) => each.toString('hex'));
      this.places[encrypt] = this.length;
      this.write(
        Buffer.from(`${encrypt} 0 obj\n<< /Filter /Standard /V 1 /R 2 /O <${owner}> /U <${user}> /P -4 >>\nendobj\n`),
      );
    }
    const start = this.length;
    const rows = Array.from({ length: this.places.length }, (_, at) => {
      const place = this.places[at];
      return place === undefined
        ? '0000000000 65535 f \n'
        : `${String(place + (hasBrokenXref ? 7 : 0)).padStart(10, '0')} 00000 n \n`;
    });
    const id = `/ID [<${ID.toString('hex')}> <${ID.toString('hex')}>]`;
    const encryption = keys === null ? '' : `/Encrypt ${encrypt} 0 R`;
    this.write(
      Buffer.from(
        `xref\n0 ${rows.length}\n${rows.join('')}trailer\n<< /Size ${rows.length} /Root ${CATALOG} 0 R /Info ${INFO} 0 R ${id} ${encryption} >>\nstartxref\n${start}\n%%EOF\n`,
      ),
    );
    return Buffer.concat(this.parts);
  }

  private write(bytes: Buffer): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  private encrypted(object: number, bytes: Buffer): Buffer {
    if (this.key === null) return bytes;
    const salt = Buffer.from([object & 255, object >> 8, object >> 16, 0, 0]);
    return rc4(md5(this.key, salt).subarray(0, this.key.length + 5), bytes);
  }
}

const ID = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
/** Fills passwords up (ISO 32000-1, algorithm 2). */
const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');

interface Encryption {
  readonly key: Buffer;
  readonly owner: Buffer;
  readonly user: Buffer;
}

/** Revision 2 of the standard security handler; the owner has the password of the user. */
function encryption(password: string): Encryption {
  const padded = Buffer.concat([Buffer.from(password, 'latin1'), PADDING]).subarray(0, 32);
  const owner = rc4(md5(padded).subarray(0, 5), padded);
  const key = md5(padded, owner, Buffer.from('fcffffff', 'hex'), ID).subarray(0, 5);
  return { key, owner, user: rc4(key, PADDING) };
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** OpenSSL no longer has it. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Array.from({ length: 256 }, (_, i) => i);
  const swap = (a: number, b: number): void => {
    [state[a], state[b]] = [state[b]!, state[a]!];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 255;
    swap(i, j);
  }
  const out = Buffer.alloc(data.length);
  for (let n = 0, i = 0, j = 0; n < data.length; n++) {
    i = (i + 1) & 255;
    j = (j + state[i]!) & 255;
    swap(i, j);
    out[n] = data[n]! ^ state[(state[i]! + state[j]!) & 255]!;
  }
  return out;
}

/** Paragraphs set as a book has them: lines of so many words, a running head and a page number on each page. */
export function bookPages(pages: number, lineOf: (page: number, line: number) => string): MadePage[] {
  return Array.from({ length: pages }, (_, page) => ({
    lines: [
      { text: 'A book of many pages', x: 220, y: 800, size: 9 },
      ...Array.from({ length: 30 }, (_, line) => ({ text: lineOf(page + 1, line + 1), y: 760 - 14 * line })),
      { text: String(page + 1), x: 290, y: 40, size: 9 },
    ],
  }));
}
