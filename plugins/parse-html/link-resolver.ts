import '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import { MAX_URL_LENGTH } from 'incrawl/plugin';

/** WHATWG URL, "special-query percent-encode set", without what the encoder adds by itself. */
const ENCODED_IN_QUERIES = ' "#\'<>';

/**
 * A link with its query in the encoding of the page, as browsers request it (WHATWG URL, "query state"). The parser by
 * itself would write UTF-8, which names another page to the server. A path is always UTF-8.
 *
 * @param charset an encoding that texts can be written in: not UTF-16
 */
function withQueryIn(charset: string, href: string): string {
  // The parser drops these before anything else.
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

/** Resolves links as written; `null` for other schemes, too long URLs, and fragments of the page itself. */
export type LinkResolver = (href: string) => string | null;

/** Longest link that is parsed; a longer one is data, or also exceeds the limit after parsing. */
const MAX_HREF_LENGTH = 8 * MAX_URL_LENGTH;
// The parser strips these characters around a URL, and no others.
const SAME_PAGE = /^[\0-\x20]*(?:#|$)/;
const OTHER_SCHEME = /^[\0-\x20]*(?!https?:)[a-z][a-z0-9+.-]*:/i;

/**
 * A resolver against a base. The result is that of the WHATWG URL parser, without fragment and userinfo. Links that
 * only need to be appended to the base skip the parser, which takes several times as long.
 *
 * @param base where relative links start from; if it is not an http(s) URL (for example a file), only absolute links
 * resolve
 * @param charset encoding of the page, also used for queries
 */
export function createLinkResolver(base: string, charset = 'utf-8'): LinkResolver {
  const start = parseUrl(base, undefined);
  const legacy = charset.startsWith('utf-') ? null : charset;
  return start === null ? (href) => resolveByParser(href, undefined, legacy) : resolverFrom(start, legacy);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

function resolverFrom(baseUrl: URL, legacy: string | null): LinkResolver {
  const { origin, pathname, href: base } = baseUrl;
  const path = origin + pathname;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return (href) => {
    if (href.length > MAX_HREF_LENGTH) return null;
    const first = href.charCodeAt(0);
    if (first === HASH) return null;
    const start = first === SLASH ? 0 : endOfOrigin(href);
    const end = start < 0 ? -1 : plainEnd(href, start);
    if (end < 0) return resolveByParser(href, base, legacy);
    const rest = end === href.length ? href : href.slice(0, end);
    if (start > 0) return withinLimit(rest);
    if (first === SLASH) return withinLimit(origin + rest);
    return withinLimit((first === QUESTION ? path : folder) + rest);
  };
}

function resolveByParser(href: string, base: string | undefined, legacy: string | null): string | null {
  if (href.length > MAX_HREF_LENGTH || OTHER_SCHEME.test(href) || SAME_PAGE.test(href)) return null;
  const url = parseUrl(legacy !== null && BEYOND_ASCII.test(href) ? withQueryIn(legacy, href) : href, base);
  if (url === null) return null;
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  const { href: whole, hash } = url;
  if (hash !== '') return withinLimit(whole.slice(0, whole.length - hash.length));
  return withinLimit(whole.endsWith('#') ? whole.slice(0, -1) : whole);
}

/** An http(s) URL, or `null`. */
function parseUrl(text: string, base: string | undefined): URL | null {
  try {
    const url = new URL(text, base);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

function withinLimit(url: string): string | null {
  return url.length > MAX_URL_LENGTH ? null : url;
}

const HASH = 0x23;
const SLASH = 0x2f;
const COLON = 0x3a;
const QUESTION = 0x3f;
const DOT = 0x2e;

const PLAIN = 1;
const HOST = 2;
/** Characters that the URL parser leaves unchanged; not `%`, since `%2e` is a dot. */
const CLASSES = characterClasses();

function characterClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789-.') classes[character.charCodeAt(0)] = PLAIN | HOST;
  for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ_~!$&()*+,;=:@/?') classes[character.charCodeAt(0)] = PLAIN;
  return classes;
}

/**
 * End of scheme and host of an absolute URL in canonical form; 0 for a relative one, -1 for one that needs the parser.
 */
function endOfOrigin(href: string): number {
  const hostStart = href.startsWith('https://') ? 8 : href.startsWith('http://') ? 7 : 0;
  if (hostStart === 0) return isPlainStart(href) ? 0 : -1;
  let at = hostStart;
  let labelStart = at;
  while (at < href.length) {
    const code = href.charCodeAt(at);
    if (code === SLASH) break;
    if (code >= 128 || (CLASSES[code]! & HOST) === 0) return -1;
    if (code === DOT) labelStart = at + 1;
    at++;
  }
  // The parser is needed if there is no path, a label is empty, the host may be an IPv4 address, or it is punycode,
  // which is checked.
  const labelCode = href.charCodeAt(labelStart);
  if (at === href.length || labelStart === at || (labelCode >= 0x30 && labelCode <= 0x39)) return -1;
  return href.slice(hostStart, at).includes('xn--') ? -1 : at;
}

/**
 * Whether a relative reference begins with a whole path segment or a query, and with nothing that looks like a scheme.
 */
function isPlainStart(href: string): boolean {
  const first = href.charCodeAt(0);
  if (first === DOT) return false;
  for (let at = 0; at < href.length; at++) {
    const code = href.charCodeAt(at);
    if (code === COLON) return false;
    if (code === SLASH || code === QUESTION || code === HASH) return true;
  }
  return href !== '';
}

/** End of the path and query from `start` if the parser would not change them (a fragment may follow); otherwise -1. */
function plainEnd(href: string, start: number): number {
  let isPath = true;
  for (let at = start; at < href.length; at++) {
    const code = href.charCodeAt(at);
    if (code === HASH) return at;
    if (code >= 128 || CLASSES[code] === 0) return -1;
    if (code === QUESTION) isPath = false;
    else if (code === SLASH && isPath) {
      const next = href.charCodeAt(at + 1);
      // A dot segment, or the start of `//host`.
      if (next === DOT || (next === SLASH && at === 0)) return -1;
    }
  }
  return href.length;
}
