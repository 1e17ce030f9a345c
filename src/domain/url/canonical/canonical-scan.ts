// domain/url/canonical/: the one spelling of a URL, and its key.
/** Recognises canonical URLs without parsing them. `canonical-url.ts` defines the form. */

const UNRESERVED = 1;
const HOST = 2;
const PATH = 4;
const QUERY = 8;
const UPPER_HEX = 16;

/** Parts of a URL in which each ASCII character may stand unchanged. */
const CLASS = characterClasses();

function characterClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  const mark = (characters: string, bits: number): void => {
    for (const character of characters) classes[character.charCodeAt(0)]! |= bits;
  };
  mark('abcdefghijklmnopqrstuvwxyz0123456789-_', HOST);
  mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~', UNRESERVED | PATH | QUERY);
  mark("!$&'()*+,;=:@/", PATH | QUERY);
  mark('?', QUERY);
  mark('0123456789ABCDEF', UPPER_HEX);
  // The WHATWG parser encodes it in queries of http URLs, and only there.
  classes["'".charCodeAt(0)]! &= ~QUERY;
  return classes;
}

/** Unreserved characters of RFC 3986 section 2.3, by character code: never percent-encoded in canonical URLs. */
export function isUnreserved(code: number): boolean {
  return code < 128 && (CLASS[code]! & UNRESERVED) !== 0;
}

const CANONICAL_PORT = /^[1-9]\d{0,4}$/;
const CANONICAL_IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/;
const DOT = 46;
const SLASH = 47;
const COLON = 58;

/**
 * The length of the canonical URL at the beginning of `input` when only a fragment follows; -1 when the parser must
 * decide. Nearly all links of real pages end here, at a quarter of the parser's cost.
 */
export function canonicalEnd(input: string): number {
  const hostStart = input.startsWith('https://') ? 8 : input.startsWith('http://') ? 7 : -1;
  if (hostStart < 0) return -1;
  const pathStart = authorityEnd(input, hostStart);
  if (pathStart < 0) return -1;
  const length = input.length;
  let allowed = PATH;
  let previous = 0;
  let at = pathStart;
  for (; at < length; at++) {
    const code = input.charCodeAt(at);
    if (code >= 128) return -1;
    if ((CLASS[code]! & allowed) !== 0) {
      // A segment that begins with a dot may be a dot segment. In a query this is harmless but rare.
      if (code === DOT && previous === SLASH) return -1;
    } else if (code === 37) {
      if (!isCanonicalEscape(input, at)) return -1;
      at += 2;
    } else if (code === 63) {
      allowed = QUERY;
    } else if (code === 35) {
      break;
    } else {
      return -1;
    }
    previous = code;
  }
  // An empty query is dropped by the parser path.
  return allowed === QUERY && input.charCodeAt(at - 1) === 63 && input.indexOf('?') === at - 1 ? -1 : at;
}

/** Start of the path, or -1 when host and port are not plainly canonical. */
function authorityEnd(input: string, start: number): number {
  const length = input.length;
  let labelStart = start;
  let at = start;
  let code = 0;
  for (; at < length; at++) {
    code = input.charCodeAt(at);
    if (code === SLASH || code === COLON) break;
    if (code >= 128) return -1;
    if (code === DOT) {
      if (at === labelStart || at - labelStart > 63) return -1;
      labelStart = at + 1;
    } else if ((CLASS[code]! & HOST) === 0) return -1;
    // Punycode is left to the parser, which knows whether it is valid.
    else if (code === 120 && at === labelStart && input.startsWith('n--', at + 1)) return -1;
  }
  if (at >= length || at === labelStart || at - labelStart > 63 || at - start > 253) return -1;
  const lastLabel = input.charCodeAt(labelStart);
  if (lastLabel >= 48 && lastLabel <= 57 && !CANONICAL_IPV4.test(input.slice(start, at))) return -1;
  if (code === SLASH) return at;
  const slash = input.indexOf('/', at);
  if (slash < 0 || slash - at > 6) return -1;
  const port = input.slice(at + 1, slash);
  const isDefault = start === 8 ? port === '443' : port === '80';
  return !isDefault && CANONICAL_PORT.test(port) && Number(port) < 65_536 ? slash : -1;
}

function isCanonicalEscape(input: string, at: number): boolean {
  if (at + 2 >= input.length) return false;
  const high = input.charCodeAt(at + 1);
  const low = input.charCodeAt(at + 2);
  if (high >= 128 || low >= 128 || (CLASS[high]! & CLASS[low]! & UPPER_HEX) === 0) return false;
  const code = (high > 64 ? high - 55 : high - 48) * 16 + (low > 64 ? low - 55 : low - 48);
  return !isUnreserved(code);
}
