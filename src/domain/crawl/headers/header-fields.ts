/** Fields that may not be repeated (RFC 9110); the first one counts, as in `node:http`. */
const ONCE: ReadonlySet<string> = new Set(
  'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since last-modified location max-forwards proxy-authorization referer retry-after server user-agent'.split(
    ' ',
  ),
);

/**
 * In `X-Robots-Tag` the name of an agent applies to its own line: joined by commas, it would apply to the lines that
 * follow.
 */
const LINE_BY_LINE = 'x-robots-tag';

/**
 * Header fields by lower-case name, from names and values in turn as received. Repeated fields are joined by commas,
 * `X-Robots-Tag` by line ends.
 */
export function joinedFields(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    const before = headers[name];
    // Not `=== undefined`: a field may be named like an inherited property of every object.
    if (typeof before !== 'string') headers[name] = value;
    else if (!ONCE.has(name)) headers[name] = `${before}${name === LINE_BY_LINE ? '\n' : ', '}${value}`;
  }
  return headers;
}
