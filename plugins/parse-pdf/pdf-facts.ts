import type { DocumentFacts } from 'incrawl/plugin';
import type { Line } from './page-lines.ts';
import type { PdfFile, Pdfjs } from './pdfjs.ts';

/** What programs write as a title where nobody gave one: names of files and of themselves. */
const NO_TITLE =
  /^(?:microsoft (?:word|powerpoint|excel)\b.*|(?:untitled|unbenannt|sans titre|document|slide|presentation|powerpoint presentation)\s*\d*|\(?anonymous\)?|.*\.(?:docx?|dvi|tex|indd|qxd|pdf|pptx?|xlsx?|od[tsp]|rtf|p65|cdr|ai|eps|ps|fm|html?))$/i;

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

const isTitle = (text: string): boolean => /\p{L}/u.test(text) && !NO_TITLE.test(text);

/** Names are parted by semicolons or "and"; by commas where each part is a whole name. */
function namesIn(written: string): string[] {
  const names = written.split(/\s*;\s*|\s+(?:and|und|et|&)\s+/);
  return names.flatMap((name) => {
    const parts = name.split(/\s*,\s*/);
    return parts.length > 1 && parts.every((part) => part.includes(' ')) ? parts : [name];
  });
}

const MAX_TITLE = 300;

/** The largest text of the first page, where it is larger than the rest. */
export function shownTitle(lines: readonly Line[]): string | null {
  const worded = lines.filter(({ text }) => isTitle(text.trim()));
  const largest = Math.max(...worded.map(({ size }) => size));
  const titles = worded.filter(({ size }) => size > 0.98 * largest);
  const others = worded.length - titles.length;
  const title = titles.map(({ text }) => text.trim()).join(' ');
  return titles.length <= 4 && others > 0 && title.length <= MAX_TITLE ? title || null : null;
}
