import type { DocumentFacts, DocumentWriter } from 'incrawl/plugin';
import { timeOf, writeEpub } from './epub.ts';
import { writeOpenDocument } from './open-document.ts';
import { textsIn } from './read-xml.ts';
import { relationshipsOf } from './relationships.ts';
import { writeSlides } from './slides.ts';
import { writeWord } from './word-document.ts';
import { writeWorkbook } from './workbook.ts';
import type { ZipParts } from './zip-parts.ts';

/** Writes what a document shows, by what it is rather than by its declared type, and returns what it says of itself. */
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
