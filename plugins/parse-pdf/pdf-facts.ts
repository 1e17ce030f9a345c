import type { DocumentFacts } from 'incrawl/plugin';
import { isTitle } from './pdf-title.ts';
import type { PdfFile, Pdfjs } from './pdfjs.ts';

/** Title, authors, dates and language from the document information (ISO 32000-1, 14.3.3) and the XMP packet. */
export async function pdfFacts(file: PdfFile, { PDFDateString }: Pdfjs): Promise<DocumentFacts> {
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

/** Names are parted by semicolons or "and"; by commas where each part is a whole name. */
function namesIn(written: string): string[] {
  const names = written.split(/\s*;\s*|\s+(?:and|und|et|&)\s+/);
  return names.flatMap((name) => {
    const parts = name.split(/\s*,\s*/);
    return parts.length > 1 && parts.every((part) => part.includes(' ')) ? parts : [name];
  });
}
