/**
 * One spelling for paths and rules, so that the matcher may compare character by character (RFC 9309 section 2.2.2):
 * octets that need no encoding are decoded, all others are encoded, hexadecimal digits are upper case. `*` and `$` are
 * metacharacters of rules; where they stand for themselves they are written `%2A` and `%24`.
 */

/** Unreserved, and the reserved characters that URLs carry as they are. Everything else is compared in encoded form. */
const AS_IS = /^[A-Za-z0-9\-._~!()*+,/:;=?@&$]*$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const TO_ENCODE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!()*+,/:;=?@&$%]/gu;

/** Longest part of a URL that is matched: an attacker's rules cost work in proportion to it. */
const MAX_URL_LENGTH = 2048;

/** Path and query of a URL as the matcher compares them. */
export function comparablePath(pathAndQuery: string): string {
  const fragment = pathAndQuery.indexOf('#');
  const path = (fragment === -1 ? pathAndQuery : pathAndQuery.slice(0, fragment)).slice(0, MAX_URL_LENGTH);
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return literal(oneSpelling(rooted));
}

/** Pattern of a rule as the matcher compares it; runs of `*` mean what one of them means. */
export function comparablePattern(pattern: string): string {
  const isAnchored = pattern.endsWith('$');
  const spelled = oneSpelling(isAnchored ? pattern.slice(0, -1) : pattern)
    .replaceAll('$', '%24')
    .replace(/\*{2,}/g, '*');
  return isAnchored ? `${spelled}$` : spelled;
}

const literal = (path: string): string =>
  path.includes('*') || path.includes('$') ? path.replaceAll('*', '%2A').replaceAll('$', '%24') : path;

function oneSpelling(text: string): string {
  if (AS_IS.test(text)) return text;
  return text.replace(TO_ENCODE, (part) => {
    if (part.length === 3 && part.startsWith('%')) {
      const char = String.fromCharCode(Number.parseInt(part.slice(1), 16));
      return UNRESERVED.test(char) ? char : part.toUpperCase();
    }
    return percentEncoded(part);
  });
}

/**
 * Of one character outside the set above. `encodeURIComponent` leaves a quote as it is and throws at half a surrogate
 * pair.
 */
const percentEncoded = (char: string): string =>
  char === "'" ? '%27' : encodeURIComponent(char.replace(/\p{Surrogate}/u, '\uFFFD'));
