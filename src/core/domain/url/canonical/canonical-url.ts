// core/domain/url/canonical/: the one spelling of a URL, and its key.

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
function isUnreserved(code: number): boolean {
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
function canonicalEnd(input: string): number {
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

/**
 * Whether a text is a URL, absolute or against a base. Does not use `URL.canParse`: in Node 20, once optimised, it can
 * refuse hosts with non-ASCII letters.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}

/**
 * The one spelling of a URL in the crawl: RFC 3986 section 6.2.2 (case, percent-encoding, dot segments) on top of the
 * WHATWG URL parser, so that a URL means the same as in a browser.
 *
 * Where the two differ, the form is taken on whose meaning both agree:
 * - characters that RFC 3986 does not allow in a path or query but browsers send raw (`| ^ [ ] \ { }` and the backtick)
 *   are percent-encoded, so that both spellings are one URL;
 * - a `%` that begins no escape becomes `%25`: servers read it so, and the result stays stable when escapes around it
 *   are decoded;
 * - escapes of unreserved ASCII are decoded, all others kept with upper-case digits (bytes that are not UTF-8 too).
 */

/** Longer URLs are traps far more often than pages, and rules and robots.txt patterns cost time in proportion. */
export const MAX_URL_LENGTH = 2048;

/** Input limit, before escapes shrink and fragments go: bounds the work on hostile input. */
const MAX_INPUT_LENGTH = 8 * MAX_URL_LENGTH;

export type CanonicalUrl = { readonly url: string } | { readonly error: string };

/**
 * The canonical form of an http or https URL: no userinfo, fragment, default port or final dot of the host; an empty
 * path is `/`; the host in lower case, IDN as punycode. `error` states what was expected. Idempotent; never throws.
 *
 * @param base absolute URL against which a relative input is resolved
 */
export function canonicalUrl(input: string, base?: string): CanonicalUrl {
  const end = canonicalEnd(input);
  if (end > 0 && end <= MAX_URL_LENGTH && input.length <= MAX_INPUT_LENGTH) {
    return { url: end === input.length ? input : input.slice(0, end) };
  }
  const parsed = parseHttpUrl(input, base);
  if (typeof parsed === 'string') return { error: parsed };
  const host = hostWithoutFinalDot(parsed);
  const fault = hostFault(host);
  if (fault !== undefined) return { error: fault };
  const url = `${parsed.protocol}//${host}${normalizePath(parsed.pathname)}${normalizeEscapes(parsed.search)}`;
  return url.length > MAX_URL_LENGTH ? { error: tooLong(url.length) } : { url };
}

/** A step of canonicalisation. `after` is `null` for a refusal; `name` is then the reason. */
interface CanonicalStep {
  readonly name: string;
  readonly before: string;
  readonly after: string | null;
}

/** The steps of {@link canonicalUrl} that changed the URL; a refusal is the last one. */
export function explainCanonicalUrl(input: string, base?: string): CanonicalStep[] {
  const steps: CanonicalStep[] = [];
  let current = input;
  const step = (name: string, after: string | null): void => {
    if (after !== current) steps.push({ name, before: current, after });
    if (after !== null) current = after;
  };
  if (input.length <= MAX_INPUT_LENGTH) {
    step('trim white space and control characters', trimUrl(input));
    step('remove tabs and line breaks', withoutBreaks(current));
  }
  const parsed = parseHttpUrl(input, base);
  if (typeof parsed === 'string') {
    step(parsed, null);
    return steps;
  }
  const { protocol, host, pathname, search, hash } = parsed;
  const withUserinfo = parsed.href;
  step(SCHEME.test(current) ? 'parse (case, port, dot segments, encoding)' : 'resolve against the base', withUserinfo);
  const emptyQuery = search === '' && withUserinfo.slice(0, withUserinfo.length - hash.length).endsWith('?') ? '?' : '';
  step('strip userinfo', `${protocol}//${host}${pathname}${search}${emptyQuery}${hash}`);
  step('drop fragment', `${protocol}//${host}${pathname}${search}${emptyQuery}`);
  step('drop empty query', `${protocol}//${host}${pathname}${search}`);
  step('remove final dot of the host', `${protocol}//${hostWithoutFinalDot(parsed)}${pathname}${search}`);
  const result = canonicalUrl(input, base);
  if ('error' in result) step(result.error, null);
  else step('normalise percent-encoding', result.url);
  return steps;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Without the C0 controls and white space around it: those of the WHATWG URL parser, and Unicode's white space. */
export function trimUrl(input: string): string {
  const text = input.trim();
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return end - start === text.length ? text : text.slice(start, end);
}

const withoutBreaks = (text: string): string => text.replace(/[\t\n\r]+/g, '');

/** The parsed URL, or the reason of the refusal. */
function parseHttpUrl(input: string, base: string | undefined): URL | string {
  if (input.length > MAX_INPUT_LENGTH) return tooLong(input.length);
  const text = withoutBreaks(trimUrl(input));
  const scheme = SCHEME.exec(text)?.[0].toLowerCase();
  if (scheme !== undefined && scheme !== 'http:' && scheme !== 'https:') return wrongScheme(scheme, text);
  if (scheme === undefined && base === undefined) {
    return text === '' ? 'empty: expected http://host/path' : notAbsolute(text);
  }
  let parsed: URL;
  try {
    parsed = new URL(text, base);
  } catch {
    return `not a valid URL (host or port): ${excerpt(text)}`;
  }
  // A base may have another scheme.
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return wrongScheme(parsed.protocol, text);
  return parsed;
}

function wrongScheme(scheme: string, text: string): string {
  const hint = /^[^:/?#]+:\d/.test(text) ? `; did you mean http://${excerpt(text, '')}?` : '';
  return `only http and https URLs are crawled, not "${excerpt(scheme, '')}"${hint}`;
}

function notAbsolute(text: string): string {
  const hint = /^[\w-]+(\.[\w-]+)+/.test(text) ? `; did you mean http://${excerpt(text, '')}?` : '';
  return `not an absolute URL, expected http://host/path, found ${excerpt(text)}${hint}`;
}

function tooLong(length: number): string {
  return `longer than ${MAX_URL_LENGTH} characters (${length})`;
}

function excerpt(text: string, quote = '"'): string {
  return `${quote}${text.length > 80 ? `${text.slice(0, 79)}…` : text}${quote}`;
}

function hostWithoutFinalDot({ hostname, port }: URL): string {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return port === '' ? name : `${name}:${port}`;
}

/** RFC 1035 section 2.3.4: labels of 1 to 63 octets, names of up to 253 characters. Others can never be resolved. */
function hostFault(host: string): string | undefined {
  if (host.startsWith('[')) return undefined;
  const colon = host.indexOf(':');
  const name = colon < 0 ? host : host.slice(0, colon);
  if (name.length > 253) return `host name longer than 253 characters: ${excerpt(name)}`;
  if (!/^[^.]{1,63}(?:\.[^.]{1,63})*$/.test(name)) return `host name with an empty or too long label: ${excerpt(name)}`;
  return name.includes('xn--') && !isStable(name) ? `host name that is no valid IDN: ${excerpt(name)}` : undefined;
}

/** Whether a punycode name is stable: the parser may refuse a name that it made itself of odd Unicode. */
function isStable(name: string): boolean {
  try {
    return new URL(`http://${name}/`).hostname === name;
  } catch {
    return false;
  }
}

function normalizePath(pathname: string): string {
  const path = normalizeEscapes(pathname);
  return DOT_SEGMENT.test(path) ? withoutDotSegments(path) : path;
}

const DOT_SEGMENT = /\/\.\.?(?:\/|$)/;

/**
 * A workaround for the parser of Node 20, which leaves `/a/.b/.` and `/a/.b/..` as they are (it looks for dot segments
 * only up to the first segment that begins with a dot). WHATWG "path state", where empty segments count.
 */
function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [at, segment] of segments.entries()) {
    if (segment !== '.' && segment !== '..') {
      kept.push(segment);
      continue;
    }
    if (segment === '..') kept.pop();
    if (at === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

const ESCAPE_OR_DISALLOWED = /%(?:[0-9a-f]{2})?|[[\]|^`{}\\]/gi;

function normalizeEscapes(part: string): string {
  ESCAPE_OR_DISALLOWED.lastIndex = 0;
  return ESCAPE_OR_DISALLOWED.test(part) ? part.replace(ESCAPE_OR_DISALLOWED, normalizeEscape) : part;
}

function normalizeEscape(match: string): string {
  if (match === '%') return '%25';
  if (match.length === 1) return `%${match.charCodeAt(0).toString(16).toUpperCase()}`;
  const code = Number.parseInt(match.slice(1), 16);
  return isUnreserved(code) ? String.fromCharCode(code) : match.toUpperCase();
}
