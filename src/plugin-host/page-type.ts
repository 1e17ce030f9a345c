/** MIME type of a body: as declared, else by its first bytes (a small part of the WHATWG MIME Sniffing rules). */
export function pageType(contentType: string | null, body: Uint8Array): string {
  const declared = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== 'application/octet-stream') return declared;
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512));
  const text = start
    .toString('latin1')
    .replace(/^(?:\xEF\xBB\xBF|\s)+/, '')
    .toLowerCase();
  if (/^<(?:!doctype html|html|head|body|title|meta|script|div|p|a|h1|!--)/.test(text)) return 'text/html';
  if (text.startsWith('<?xml') || text.startsWith('<rss') || text.startsWith('<feed') || text.startsWith('<urlset')) {
    return 'application/xml';
  }
  return start.some((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32))
    ? 'application/octet-stream'
    : 'text/plain';
}

/** Which rules find the charset of a type. */
export function markupOf(type: string): 'html' | 'xml' | 'text' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  return type.endsWith('/xml') || type.endsWith('+xml') ? 'xml' : 'text';
}
