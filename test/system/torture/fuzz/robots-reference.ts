/**
 * Whether a pattern of RFC 9309 matches the beginning of a path, by a table of all places in both: slow, and without
 * anything that could be wrong. `*` is any text, `$` at the end the end of the path.
 */
export function isMatchedByPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const wanted = isAnchored ? pattern.slice(0, -1) : pattern;
  let reached = new Uint8Array(path.length + 1);
  reached[0] = 1;
  for (const sign of wanted) {
    const next = new Uint8Array(path.length + 1);
    let isBelow = 0;
    for (let at = 0; at <= path.length; at++) {
      isBelow |= reached[at]!;
      if (sign === '*') next[at] = isBelow;
      else if (reached[at] === 1 && path[at] === sign) next[at + 1] = 1;
    }
    reached = next;
  }
  return isAnchored ? reached[path.length] === 1 : reached.includes(1);
}
