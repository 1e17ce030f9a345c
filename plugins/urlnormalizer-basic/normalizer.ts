import { canonicalUrl } from 'incrawl/plugin';
import type { Options } from './options.ts';

/** Names that can only stand for a session. */
const CERTAIN = '(?:j|l|php|bv_|asp|web)?_?sess(?:ion)?_?id|aspsessionid[a-z]*|zenid|oscsid|cftoken';
/** Names that may also stand for a story or a section. */
const AMBIGUOUS = '(?:l|j|bv_)?sid|cfid|sess';

const CERTAIN_NAME = new RegExp(`^_?(?:${CERTAIN})$`, 'i');
const ANY_NAME = new RegExp(`^_?(?:${CERTAIN}|${AMBIGUOUS})$`, 'i');

/** At least 16 characters with both letters and digits: made by a machine. */
const TOKEN = /^(?=.*\d)(?=.*[a-z])[\w.~-]{16,}$/i;

/** Whether a query parameter is a session id. */
function isSessionParam(name: string, value: string, mode: 'tokens' | 'names'): boolean {
  if (name.length < 3 || !ANY_NAME.test(name)) return false;
  return mode === 'names' || CERTAIN_NAME.test(name) || TOKEN.test(value);
}

/**
 * In a path or a query, as some sites put semicolons between query parts: `;jsessionid=...` is unmistakable, `;sid=...`
 * is not.
 */
const MATRIX_PARAM = new RegExp(`;(_?(?:${CERTAIN}|sid))=([^;/?&]*)`, 'gi');
/** ASP.NET without cookies: `/(S(24 characters))/page.aspx`. */
const ASP_SEGMENT = /\/\((?:[A-Z]\([0-9a-z]{16,}\))+\)(?=\/)/gi;

/** A path or query without session ids of these two kinds, except those whose names `isExempt`. */
function withoutMatrixSessions(
  part: string,
  mode: 'tokens' | 'names',
  isExempt: (name: string) => boolean = () => false,
): string {
  let kept = part;
  if (kept.includes(';')) {
    kept = kept.replace(MATRIX_PARAM, (whole, name: string, value: string) =>
      isSessionParam(name, value, mode) && !isExempt(name.toLowerCase()) ? '' : whole,
    );
  }
  if (kept.includes('/(')) kept = kept.replace(ASP_SEGMENT, '');
  return kept;
}

/**
 * The rules in this order, until none changes anything: host, session ids of the path, slashes, index file, trailing
 * slash, query. One pass is nearly always enough; repeating makes the whole idempotent, whatever one rule exposes to
 * another. Each pass shortens the URL or sorts its query, so it terminates.
 *
 * @returns a function from canonical URLs to canonical URLs; `null` if nothing canonical is left
 */
export function createNormalizer(options: Options): (url: string) => string | null {
  const pass = createPass(options);
  return (url) => {
    let current = url;
    for (;;) {
      const next = pass(current);
      if (next === current) return current;
      const canonical = canonicalUrl(next);
      if ('error' in canonical) return null;
      current = canonical.url;
    }
  };
}

function createPass(options: Options): (url: string) => string {
  const { sessionIds } = options;
  const normalizeQuery = createQueryRule(options);
  const touchesPath = options.duplicateSlashes || options.stripIndexFiles || options.dropTrailingSlash;
  return (url) => {
    const queryStart = url.indexOf('?');
    const hasMark = sessionIds !== 'off' && (url.includes(';') || url.includes('/('));
    if (queryStart < 0 && !touchesPath && !hasMark && !options.stripWww) return url;
    const pathStart = url.indexOf('/', url.indexOf('://') + 3);
    let origin = url.slice(0, pathStart);
    let path = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
    if (options.stripWww) origin = origin.replace(/:\/\/www\.(?=[^.:]+\.)/, '://');
    if (hasMark) path = withoutMatrixSessions(path, sessionIds) || '/';
    if (touchesPath) path = normalizePath(path, options);
    const query = queryStart < 0 ? '' : normalizeQuery(url.slice(queryStart + 1));
    return query === '' ? origin + path : `${origin}${path}?${query}`;
  };
}

const INDEX_FILE = /\/(?:index|default)\.(?:[psx]?html?|php[3-8]?|aspx?|cfm|cgi|pl|js[pf]|jsp[ax])$/i;

function normalizePath(path: string, options: Options): string {
  let result = path;
  if (options.duplicateSlashes) result = result.replace(/\/{2,}/g, '/');
  if (options.stripIndexFiles) result = result.replace(INDEX_FILE, '/');
  if (options.dropTrailingSlash && result.length > 1 && result.endsWith('/')) result = result.slice(0, -1);
  return result;
}

function createQueryRule(options: Options): (query: string) => string {
  const { sessionIds, sortQuery, tidyQuery } = options;
  const dropped = createNameMatcher(options.dropQueryParams);
  const kept = createNameMatcher(options.keepQueryParams);

  const isKept = (part: string): boolean => {
    if (part === '') return !tidyQuery && !sortQuery;
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).toLowerCase();
    if (name === '') return !sortQuery;
    const isUnwanted =
      dropped(name) ||
      (sessionIds !== 'off' && isSessionParam(name, equals < 0 ? '' : part.slice(equals + 1), sessionIds));
    return !isUnwanted || kept(name);
  };

  return (query) => {
    const whole = sessionIds === 'off' ? query : withoutMatrixSessions(query, sessionIds, kept);
    const parts = whole.split('&');
    let result = parts.filter(isKept);
    if (sortQuery) result = result.map(withoutEmptyValue).sort(byName);
    else if (result.length === parts.length) return whole;
    return result.join('&');
  };
}

function withoutEmptyValue(part: string): string {
  return part.indexOf('=') === part.length - 1 ? part.slice(0, -1) : part;
}

/** Stable, so that several values of one name keep their order. */
function byName(a: string, b: string): number {
  const nameA = a.split('=', 1)[0] ?? '';
  const nameB = b.split('=', 1)[0] ?? '';
  return nameA < nameB ? -1 : nameA > nameB ? 1 : 0;
}

function createNameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const names = new Set(lower.filter((pattern) => !pattern.endsWith('*')));
  const prefixes = lower.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
