import { count } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

/** Reasons shown to people; `--json` has all. */
const SHOWN = 8;

/** `12 urlfilter-scope: host not in scope`, most frequent first; empty when no URL was filtered out. */
export function rejectionLines(filteredBy: Readonly<Record<string, number>>): string[] {
  const kinds = Object.entries(filteredBy).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const lines = kinds.slice(0, SHOWN).map(([kind, times]) => `${count(times)} ${safeText(kind)}`);
  return kinds.length > SHOWN ? [...lines, `${count(kinds.length - SHOWN)} more reasons (--json)`] : lines;
}
