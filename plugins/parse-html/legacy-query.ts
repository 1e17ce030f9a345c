import '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';

/** WHATWG URL, "special-query percent-encode set", without what the encoder adds by itself. */
const ENCODED_IN_QUERIES = ' "#\'<>';

/**
 * A link with its query in the encoding of the page, as browsers ask for it (WHATWG URL, "query state"): the parser
 * alone would write UTF-8, which names another page to the server. A path is UTF-8 always.
 *
 * @param charset an encoding that texts can be written in: not UTF-16
 */
export function withQueryIn(charset: string, href: string): string {
  // The parser drops these before it looks at anything.
  const written = href.replace(/[\t\n\r]/g, '').replace(/^[\0-\x20]+/, '');
  const mark = written.indexOf('?');
  const hash = written.indexOf('#');
  if (mark < 0 || (hash >= 0 && hash < mark)) return href;
  const query = hash < 0 ? withoutEnd(written.slice(mark + 1)) : written.slice(mark + 1, hash);
  return `${written.slice(0, mark + 1)}${percentEncodeAfterEncoding(charset, query, ENCODED_IN_QUERIES)}`;
}

/** Without the controls and spaces at the end of a URL, which the parser drops as well. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(0, end);
}
