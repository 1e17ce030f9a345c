import { canonicalEnd, isUnreserved } from './canonical-scan.ts';

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
export interface CanonicalStep {
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
