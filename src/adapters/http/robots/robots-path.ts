/**
 * One spelling for paths and rules, so that the matcher may compare character by character (RFC 9309 section 2.2.2):
 * octets that need no encoding are decoded, all others are encoded, hexadecimal digits are upper case. `*` and `$` are
 * metacharacters of rules; as literal characters they are written `%2A` and `%24`.
 */

/**
 * Unreserved characters, and the reserved ones that URLs carry as they are. All others are compared in encoded form.
 */
const AS_IS = /^[A-Za-z0-9\-._~!()*+,/:;=?@&$]*$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const TO_ENCODE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!()*+,/:;=?@&$%]/gu;

/** Maximum length of a URL that is matched: rules of an attacker cost work in proportion to it. */
const MAX_URL_LENGTH = 2048;

/** Path and query of a URL in the spelling that the matcher compares. */
export function comparablePath(pathAndQuery: string): string {
  const fragment = pathAndQuery.indexOf('#');
  const path = (fragment === -1 ? pathAndQuery : pathAndQuery.slice(0, fragment)).slice(0, MAX_URL_LENGTH);
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return literal(oneSpelling(rooted));
}

/** Pattern of a rule in the spelling that the matcher compares; a run of `*` is the same as one. */
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
 * Encodes one character outside the set above. `encodeURIComponent` leaves a quote as it is and throws on half a
 * surrogate pair.
 */
const percentEncoded = (char: string): string =>
  char === "'" ? '%27' : encodeURIComponent(char.replace(/\p{Surrogate}/u, '\uFFFD'));
