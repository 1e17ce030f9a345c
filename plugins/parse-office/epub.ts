import { posix } from 'node:path';
import type { DocumentFacts, DocumentWriter } from 'incrawl/plugin';
import { type Attributes, readXml, textsIn, type XmlHandler } from './read-xml.ts';
import type { ZipParts } from './zip-parts.ts';

/** Writes the texts of an EPUB (EPUB 3.3, and 2) in the order of its spine, and reads its metadata. */
export async function writeEpub(parts: ZipParts, writer: DocumentWriter): Promise<DocumentFacts> {
  const path = packagePath(await parts.read('META-INF/container.xml'));
  const bytes = path === null ? null : await parts.read(path);
  if (path === null || bytes === null) throw new Error('the EPUB has no package document');
  const encrypted = encryptedParts(await parts.read('META-INF/encryption.xml'));
  for (const part of spine(bytes, posix.dirname(path))) {
    if (encrypted.has(part)) throw new Error('the EPUB is encrypted (DRM)');
    const content = await parts.read(part);
    if (content === null) continue;
    writer.open('section');
    const depth = writer.depth;
    readXml(content, new ChapterReader(writer), true);
    writer.closeTo(depth - 1);
  }
  return packageFacts(bytes);
}

function packagePath(container: Buffer | null): string | null {
  let path: string | null = null;
  if (container !== null) {
    readXml(container, {
      open: (name, attributes) => {
        if (name === 'rootfile') path ??= attributes['full-path'] ?? null;
      },
      close: () => {},
    });
  }
  return path;
}

/** Any book may have obfuscated fonts; only DRM encrypts texts. */
function encryptedParts(bytes: Buffer | null): ReadonlySet<string> {
  const found = new Set<string>();
  if (bytes === null) return found;
  readXml(bytes, {
    open: (name, { URI }) => {
      if (name === 'CipherReference' && URI !== undefined) found.add(decoded(URI));
    },
    close: () => {},
  });
  return found;
}

/** Paths of the texts, in reading order. */
function spine(bytes: Buffer, folder: string): string[] {
  const texts = new Map<string, string>();
  const order: string[] = [];
  readXml(bytes, {
    open: (name, attributes) => {
      const { id = '', href = '', idref = '' } = attributes;
      const type = attributes['media-type'] ?? '';
      if (name === 'item' && /xhtml|html/.test(type)) texts.set(id, posix.join(folder, decoded(href)));
      else if (name === 'itemref') order.push(idref);
    },
    close: () => {},
  });
  return [...new Set(order)].flatMap((id) => texts.get(id) ?? []);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path.split('#', 1)[0]!);
  } catch {
    return path;
  }
}

function packageFacts(bytes: Buffer): DocumentFacts {
  const texts = textsIn(bytes);
  let modified: string | null = null;
  let isModified = false;
  readXml(bytes, {
    open: (name, attributes) => {
      isModified = name === 'meta' && attributes.property === 'dcterms:modified';
    },
    text: (data) => {
      if (isModified) modified ??= data.trim();
    },
    close: () => {
      isModified = false;
    },
  });
  return {
    title: texts('title')[0] ?? null,
    authors: texts('creator'),
    description: texts('description')[0] ?? null,
    keywords: texts('subject'),
    lang: texts('language')[0] ?? null,
    publishedAt: timeOf(texts('date')[0] ?? null),
    modifiedAt: timeOf(modified),
    source: 'EPUB',
  };
}

/** Milliseconds since the epoch; `null`: none is stated. */
export function timeOf(written: string | null): number | null {
  const at = written === null ? Number.NaN : Date.parse(written);
  return Number.isFinite(at) ? at : null;
}

const KEPT: ReadonlySet<string> = new Set(
  'h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote pre code em strong b i br hr div section article aside figure figcaption'.split(
    ' ',
  ),
);
const SKIPPED: ReadonlySet<string> = new Set(['head', 'script', 'style', 'svg', 'math']);

/** Copies a text with its meaningful elements; links into the book are dropped, as they lead nowhere outside it. */
class ChapterReader implements XmlHandler {
  private readonly writer: DocumentWriter;
  private skipping = 0;
  /** For each open `a`, whether it was written. */
  private readonly anchors: boolean[] = [];

  constructor(writer: DocumentWriter) {
    this.writer = writer;
  }

  open(name: string, { href = '' }: Attributes): void {
    if (this.skipping > 0 || SKIPPED.has(name)) this.skipping++;
    else if (name === 'a') {
      const isOutside = /^https?:/i.test(href);
      this.anchors.push(isOutside);
      if (isOutside) this.writer.open('a', { href });
    } else if (KEPT.has(name)) this.writer.open(name);
  }

  text(data: string): void {
    if (this.skipping === 0) this.writer.text(data);
  }

  close(name: string): void {
    if (this.skipping > 0) this.skipping--;
    else if (name === 'a') {
      if (this.anchors.pop() === true) this.writer.close();
    } else if (KEPT.has(name)) this.writer.close();
  }
}
