import { sniffEncoding } from './decode.ts';

/**
 * MIME type of a body: as declared, unless it is declared as text and is clearly binary; without a declaration by its
 * first bytes (a small part of the WHATWG MIME Sniffing Standard).
 */
export function pageType(contentType: string | null, body: Uint8Array): string {
  const declared = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512));
  if (/^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== 'application/octet-stream') {
    const isText = /^text\/|[/+]xml$/.test(declared);
    if (isText && isNoText(start, contentType, markupOf(declared))) return binaryType(start);
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

/** The rules by which the charset of a MIME type is detected. */
export function markupOf(type: string): 'html' | 'xml' | 'text' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  return type.endsWith('/xml') || type.endsWith('+xml') ? 'xml' : 'text';
}
