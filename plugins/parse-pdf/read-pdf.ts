import { type DocumentFacts, DocumentWriter } from 'incrawl/plugin';
import type { MemoryGuard } from './memory-guard.ts';
import { type Line, pageLines } from './page-lines.ts';
import { type Paragraph, paragraphsOf } from './paragraphs.ts';
import { isTitle, pdfTitle } from './pdf-title.ts';
import type { PdfFile, Pdfjs, PdfjsPackage } from './pdfjs.ts';

/** Title, authors, dates and language from the document information (ISO 32000-1, 14.3.3) and the XMP packet. */
async function pdfFacts(file: PdfFile, { PDFDateString }: Pdfjs): Promise<DocumentFacts> {
  const { info, metadata } = await file.getMetadata();
  const text = (name: string): string => (typeof info[name] === 'string' ? info[name] : '');
  const xmp = (name: string): string[] =>
    [metadata?.get(name)].flat().filter((each): each is string => typeof each === 'string');
  const time = (name: string, other: string): number | null => {
    const at = PDFDateString.toDateObject(text(name))?.getTime() ?? Date.parse(xmp(other)[0] ?? '');
    return Number.isFinite(at) ? at : null;
  };
  const title = [text('Title'), ...xmp('dc:title')].map((each) => each.trim()).find((each) => isTitle(each));
  const creators = xmp('dc:creator').filter((name) => name.trim() !== '');
  return {
    title: title ?? null,
    authors: creators.length > 0 ? creators : namesIn(text('Author')),
    description: text('Subject') || (xmp('dc:description')[0] ?? null),
    keywords: text('Keywords').split(/[;,]/),
    lang: text('Language') || (xmp('dc:language')[0] ?? null),
    publishedAt: time('CreationDate', 'xmp:createdate'),
    modifiedAt: time('ModDate', 'xmp:modifydate'),
    source: 'PDF',
  };
}

/** Names are separated by semicolons or "and", or by commas if each part is a whole name. */
function namesIn(written: string): string[] {
  const names = written.split(/\s*;\s*|\s+(?:and|und|et|&)\s+/);
  return names.flatMap((name) => {
    const parts = name.split(/\s*,\s*/);
    return parts.length > 1 && parts.every((part) => part.includes(' ')) ? parts : [name];
  });
}

/** Number of pages on which a line must appear to be a running head. */
const LEAST_PAGES = 3;
/** Lines at the upper and lower edge of a page that can be running heads. */
const EDGE_LINES = 2;
/** Grid of places, in units of a page (1/72 inch). */
const GRID = 4;
/** Distance of running heads from the text, in font sizes. */
const APART = 1.6;
/** Share of the pages that have a line with a number at a place, from which on it is the place of page numbers. */
const MOST = 0.3;
/** A page number, Roman ones too, at the beginning or the end of a line. */
const NUMBERED = /^\s*(?:\d+|[ivxlc]+)\b|\b(?:\d+|[ivxlc]+)\s*$/;

/**
 * Removes running heads and page numbers: lines at the edge of pages with the same text at the same place on several
 * pages. Lines that are apart from the text may differ in digits, and at the place of page numbers in everything except
 * the digits.
 */
function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[][] {
  const edges = pages.map(edgeLines);
  const pagesOf = new Map<string, number>();
  for (const edge of edges) {
    for (const key of new Set([...edge.values()].flat())) pagesOf.set(key, (pagesOf.get(key) ?? 0) + 1);
  }
  const isRunning = (keys: readonly string[]): boolean =>
    keys.some((key) => {
      const count = pagesOf.get(key) ?? 0;
      return count >= LEAST_PAGES && (!key.startsWith(NUMBER) || count >= MOST * pages.length);
    });
  return pages.map((lines, page) => lines.filter((line) => !isRunning(edges[page]!.get(line) ?? [])));
}

const NUMBER = 'number';

/** The lines at the edges of a page, each with the keys by which it is found on other pages. */
function edgeLines(lines: readonly Line[]): Map<Line, string[]> {
  const falling = [...lines].sort((a, b) => b.y - a.y);
  const edge = new Map<Line, string[]>();
  for (const ordered of [falling, falling.toReversed()]) {
    const isApart = ordered.slice(0, EDGE_LINES + 1).map((line, i) => {
      const next = ordered[i + 1];
      return next === undefined || Math.abs(next.y - line.y) > APART * line.size;
    });
    for (const [i, line] of ordered.slice(0, EDGE_LINES).entries()) {
      edge.set(line, keysOf(line, isApart.slice(i, EDGE_LINES).some(Boolean)));
    }
  }
  return edge;
}

/** @param isApart the line stands apart from the text */
function keysOf({ text, y }: Line, isApart: boolean): string[] {
  const place = Math.round(y / GRID);
  if (!isApart) return [`line ${place} ${text.trim()}`];
  const head = `head ${place} ${text.trim().replaceAll(/\d+|\b[ivxlc]+$/g, '#')}`;
  return NUMBERED.test(text) ? [head, `${NUMBER} ${place}`] : [head];
}

interface ReadOptions {
  readonly pdfjs: PdfjsPackage;
  readonly guard: MemoryGuard;
  readonly maxPages: number;
  /** UTF-16 units. */
  readonly maxText: number;
}

interface ReadPdf {
  readonly writer: DocumentWriter;
  readonly facts: DocumentFacts;
  readonly pages: number;
  readonly pagesRead: number;
}

/** Reads a PDF. Rejects with the fault of the file, in words for the operator. @param url base of relative links */
export async function readPdf(body: Uint8Array, url: string, options: ReadOptions): Promise<ReadPdf> {
  const { pdfjs, guard } = options;
  const library = await pdfjs.load();
  try {
    const read = await guard.run(() => readGuarded(body, url, library, options));
    if (!guard.hasRefused) return read;
  } catch (error) {
    if (!guard.hasRefused) throw describedFault(error, body);
  }
  throw new Error('the PDF takes more memory when decompressed than the option maxMemory allows');
}

async function readGuarded(
  body: Uint8Array,
  url: string,
  library: Pdfjs,
  { pdfjs, maxPages, maxText }: ReadOptions,
): Promise<ReadPdf> {
  const task = library.getDocument({
    // A copy: pdf.js takes the buffer away from its owner.
    data: new Uint8Array(body),
    docBaseUrl: url,
    verbosity: 0,
    cMapUrl: pdfjs.cMaps,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWorkerFetch: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 1,
  });
  try {
    const file = await task.promise;
    const pagesRead = Math.min(file.numPages, maxPages);
    const { pages, bare } = await linesOf(file, pagesRead, maxText);
    const facts = await pdfFacts(file, library);
    const title = pdfTitle(facts.title ?? null, pages[0] ?? [], facts.authors ?? []);
    const writer = new DocumentWriter({ maxText });
    write(writer, paragraphsOf(withoutRunningLines(pages)));
    const links = bare.map((href) => ({ href, text: '' }));
    return { writer, facts: { ...facts, title, links }, pages: file.numPages, pagesRead };
  } finally {
    await task.destroy();
  }
}

async function linesOf(
  file: PdfFile,
  pagesRead: number,
  maxText: number,
): Promise<{ readonly pages: readonly (readonly Line[])[]; readonly bare: readonly string[] }> {
  const pages: (readonly Line[])[] = [];
  const bare: string[] = [];
  let chars = 0;
  for (let number = 1; number <= pagesRead && chars <= maxText; number++) {
    const page = await file.getPage(number);
    const [{ items }, annotations] = [await page.getTextContent(), await page.getAnnotations()];
    const found = pageLines(items, annotations);
    pages.push(found.lines);
    bare.push(...found.bare);
    for (const { text } of found.lines) chars += text.length;
    page.cleanup();
  }
  return { pages, bare };
}

function write(writer: DocumentWriter, paragraphs: readonly Paragraph[]): void {
  let isInList = false;
  for (const { tag, runs } of paragraphs) {
    if ((tag === 'li') !== isInList) {
      if (isInList) writer.close();
      else writer.open('ul');
      isInList = !isInList;
    }
    writer.open(tag);
    for (const { text, href } of runs) {
      if (href === null) writer.text(text);
      else {
        writer.open('a', { href });
        writer.text(text);
        writer.close();
      }
    }
    writer.close();
  }
}

/** Bytes from the end that must contain the end mark (ISO 32000-1, annex H.3, note 18). */
const TAIL_BYTES = 1024;

/** Whether the end of a PDF is missing. */
export function isCutOff(body: Uint8Array): boolean {
  const tail = Buffer.from(body.buffer, body.byteOffset, body.byteLength).subarray(-TAIL_BYTES);
  return !tail.includes('%%EOF') && !tail.includes('startxref');
}

function describedFault(error: unknown, body: Uint8Array): Error {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'PasswordException') return new Error('the PDF is encrypted and asks for a password');
  if (body.length === 0) return new Error('the PDF is empty');
  if (isCutOff(body)) {
    return new Error(`the PDF is cut off after ${body.length} bytes (is http.maxBodyBytes too small?): ${message}`);
  }
  return new Error(`the PDF cannot be read: ${message}`);
}
