import { ownText } from './own-text.ts';

/**
 * Answers by text, worked out once: class names of a site are few, and each stands on many elements. Forgets all when
 * it knows `limit` of them.
 */
export function memoized<Answer>(work: (text: string) => Answer, limit: number): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const answer = work(text);
    if (known.size >= limit) known.clear();
    known.set(ownText(text), answer);
    return answer;
  };
}
