import { type DocumentFacts, DocumentWriter } from 'incrawl/plugin';
import type { MemoryGuard } from './memory-guard.ts';
import { type Line, pageLines } from './page-lines.ts';
import { type Paragraph, paragraphsOf } from './paragraphs.ts';
import { pdfFacts } from './pdf-facts.ts';
import { pdfTitle } from './pdf-title.ts';
import type { PdfFile, Pdfjs, PdfjsPackage } from './pdfjs.ts';
import { withoutRunningLines } from './running-lines.ts';

export interface ReadOptions {
  readonly pdfjs: PdfjsPackage;
  readonly guard: MemoryGuard;
  readonly maxPages: number;
  /** UTF-16 units. */
  readonly maxText: number;
}

export interface ReadPdf {
  readonly writer: DocumentWriter;
  readonly facts: DocumentFacts;
  readonly pages: number;
  readonly pagesRead: number;
}

/** Reads a PDF. Rejects with what is wrong with it, in words for the operator. @param url base of relative links */
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

/** Bytes from the end in which the mark of the end must stand (ISO 32000-1, annex H.3, note 18). */
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
