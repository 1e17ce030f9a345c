import { sniffEncoding } from './decode.ts';

/** Types that servers send for files which a browser shall save, and those of all ZIP files. */
const VAGUE: ReadonlySet<string> = new Set(
  'binary/octet-stream application/download application/force-download application/x-download application/x-force-download application/unknown application/x-unknown unknown/unknown application/zip application/x-zip application/x-zip-compressed'.split(
    ' ',
  ),
);

/**
 * MIME type of a body: as declared, unless it is declared as text and is clearly binary, or by a type that says nothing
 * and is a document; without a declaration by its first bytes (a small part of the WHATWG MIME Sniffing Standard).
 */
export function pageType(contentType: string | null, body: Uint8Array): string {
  const declared = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512));
  if (/^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== 'application/octet-stream') {
    const isText = /^text\/|[/+]xml$/.test(declared);
    if (isText && isNoText(start, contentType, markupOf(declared))) return binaryType(start);
    if (VAGUE.has(declared)) return documentType(body) ?? declared;
    return otherMarkup(declared, start) ?? declared;
  }
  const text = start
    .toString('latin1')
    .replace(/^(?:\xEF\xBB\xBF|\s)+/, '')
    .toLowerCase();
  if (HTML_START.test(text)) return 'text/html';
  if (text.startsWith('<?xml') || text.startsWith('<rss') || text.startsWith('<feed') || text.startsWith('<urlset')) {
    return 'application/xml';
  }
  const document = documentType(body);
  if (document !== null) return document;
  return start.some(isControl) ? 'application/octet-stream' : 'text/plain';
}

const HTML_START = /^<(?:!doctype html|html|head|body|title|meta|script|div|p|a|h1|!--)/;

/** Processing instructions, comments and a document type, which may precede the root element. */
const PROLOG = /^(?:\xef\xbb\xbf)?(?:\s+|<\?[^>]*>|<!--(?:(?!-->)[\s\S])*-->|<!doctype[^>[]*>)*/i;

/**
 * A feed declared as HTML, recognised as browsers do, or an XHTML page declared as XML: parsed as declared, it would
 * lose its links.
 */
function otherMarkup(declared: string, start: Buffer): string | null {
  if (declared !== 'text/html' && declared !== 'text/xml' && declared !== 'application/xml') return null;
  const text = start.toString('latin1');
  const root = /^<([\w:]+)[\s>]/.exec(text.slice(PROLOG.exec(text)?.[0].length ?? 0))?.[1]?.toLowerCase() ?? '';
  if (declared === 'text/html') return FEEDS.has(root) ? 'application/xml' : null;
  return root === 'html' ? 'application/xhtml+xml' : null;
}

const FEEDS: ReadonlySet<string> = new Set(['rss', 'feed', 'rdf:rdf']);

/** "Binary data byte" of the MIME Sniffing Standard. */
const isControl = (byte: number): boolean =>
  byte < 9 || byte === 11 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32);

/** Pages sometimes have stray control characters; of compressed data, one byte in ten is in that range. */
const STRAY_CONTROLS = 3;
const STRAY_SHARE = 0.05;

/** An image, document or archive declared as text. */
function isNoText(start: Buffer, contentType: string | null, kind: 'html' | 'xml' | 'text'): boolean {
  if (isPdf(start)) return true;
  let controls = 0;
  for (const byte of start) if (isControl(byte)) controls++;
  if (controls <= STRAY_CONTROLS || controls <= STRAY_SHARE * start.length) return false;
  // Some servers fill up their templates with NUL characters, which parsers of HTML skip.
  if (kind === 'html' && HTML_START.test(withoutControls(start).trimStart().toLowerCase())) return false;
  return !sniffEncoding(start, { contentType, kind })?.startsWith('utf-16');
}

const isPdf = (start: Buffer): boolean => start.toString('latin1', 0, 5) === '%PDF-';

const withoutControls = (start: Buffer): string => String.fromCharCode(...start.filter((byte) => !isControl(byte)));

function binaryType(start: Buffer): string {
  if (isPdf(start)) return 'application/pdf';
  return start[0] === 0x1f && start[1] === 0x8b ? 'application/gzip' : 'application/octet-stream';
}

/** Bytes in which the mark of a PDF must stand (ISO 32000-1, annex H.3, note 13). */
const PDF_START = 1024;
/** Names of parts that tell files of Office Open XML apart (ECMA-376, part 2), and their MIME types. */
const OFFICE_PARTS: readonly (readonly [part: string, type: string])[] = [
  ['word/document', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xl/workbook', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['ppt/presentation', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
];
/** Fields of the first header of a ZIP file (APPNOTE.TXT, 4.3.7): compressed size, lengths of name and extra field. */
const [SIZE, NAME_LENGTH, EXTRA_LENGTH, NAME] = [18, 26, 28, 30];

/** MIME type of a PDF, EPUB or office file by its content; `null`: it is none. */
function documentType(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.subarray(0, PDF_START).includes('%PDF-')) return 'application/pdf';
  return bytes.toString('latin1', 0, 4) === 'PK\x03\x04' ? zipType(bytes) : null;
}

function zipType(bytes: Buffer): string | null {
  if (bytes.length < NAME) return null;
  const nameEnd = NAME + bytes.readUInt16LE(NAME_LENGTH);
  // OpenDocument and EPUB put their type first, not compressed.
  if (bytes.toString('latin1', NAME, nameEnd) === 'mimetype') {
    const start = nameEnd + bytes.readUInt16LE(EXTRA_LENGTH);
    const type = bytes.toString('latin1', start, start + Math.min(100, bytes.readUInt32LE(SIZE))).trim();
    return /^application\/(?:epub\+zip|vnd\.oasis\.opendocument\.[\w.-]+)$/.test(type) ? type : null;
  }
  // Some programs do not know that rule.
  if (bytes.includes('META-INF/container.xml') && bytes.includes('application/epub+zip')) return 'application/epub+zip';
  if (!bytes.includes('[Content_Types].xml')) return null;
  return OFFICE_PARTS.find(([part]) => bytes.includes(part))?.[1] ?? null;
}

/** The rules by which the charset of a MIME type is detected. */
export function markupOf(type: string): 'html' | 'xml' | 'text' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  return type.endsWith('/xml') || type.endsWith('+xml') ? 'xml' : 'text';
}
