/**
 * Numbers and single characters fan out directories (`/0/0/0/7.html`, `/2011/11/11/`) far more often than they loop.
 */
const isTelling = (segment: string): boolean => segment.length > 1 && !/^\d+$/.test(segment);

/**
 * The run of segments that follows on itself most often, where that is more than `max` times: a relative link that
 * misses its target makes `/a/b/` into `/a/b/a/b/`, and so on for ever. `null` if there is none.
 */
export function repeatedRun(
  segments: readonly string[],
  max: number,
): { readonly run: string; readonly times: number } | null {
  const { length } = segments;
  for (let size = 1; size * (max + 1) <= length; size++) {
    let equal = 0;
    for (let at = size; at < length; at++) {
      equal = segments[at] === segments[at - size] ? equal + 1 : 0;
      if (equal < size * max) continue;
      const run = segments.slice(at - size + 1, at + 1);
      if (run.some(isTelling)) return { run: run.join('/'), times: max + 1 };
    }
  }
  return null;
}

/** The first segment or parameter that comes more than `max` times, anywhere. */
export function tooFrequent(parts: readonly string[], max: number, counts = isTelling): string | null {
  if (parts.length <= max) return null;
  const times = new Map<string, number>();
  for (const part of parts) {
    const seen = (times.get(part) ?? 0) + 1;
    if (seen > max && counts(part)) return part;
    times.set(part, seen);
  }
  return null;
}
