import { z } from 'zod';
import type { OwnBounds } from '../../domain/crawl/revisit/interval-bounds.ts';
import { createFirstMatch, type FirstMatch } from '../../domain/url/canonical/first-match.ts';
import { coversPattern, type HostPattern, parseHostPattern } from '../../domain/url/canonical/host-pattern.ts';
import { hostEntry } from './host-keys.ts';

export type HostEntry = z.output<typeof hostEntry>;

/** `hosts:` as a whole: an entry that never decides is a mistake of the operator. */
export const hostEntries = z
  .array(hostEntry, { error: () => 'expected a list of entries, each with "match" and settings' })
  .superRefine((entries, context) => {
    const patterns = entries.map(({ match }) => parseHostPattern(match));
    for (const [i, pattern] of patterns.entries()) {
      const by = patterns.findIndex(
        (each, j) => j < i && each !== null && pattern !== null && coversPattern(each, pattern),
      );
      if (by < 0) continue;
      const message = `never decides: hosts[${by}] (${entries[by]?.match}) matches all its URLs first; put this one above it`;
      context.addIssue({ code: 'custom', path: [i, 'match'], message });
    }
  })
  .default([]);

/** The bounds of the revisit interval that an entry sets; `undefined`: none. */
export function boundsOfEntry(entry: Pick<HostEntry, 'minIntervalMs' | 'maxIntervalMs'>): OwnBounds | undefined {
  const minIntervalMs = entry.minIntervalMs ?? null;
  const maxIntervalMs = entry.maxIntervalMs ?? null;
  return minIntervalMs === null && maxIntervalMs === null ? undefined : { minIntervalMs, maxIntervalMs };
}

/** The entries by URL and by host, with their places in the list. */
export function hostEntriesBy<Entry extends { readonly match: string }>(
  entries: readonly Entry[],
): FirstMatch<{ readonly entry: Entry; readonly index: number }> {
  return createFirstMatch(
    entries.map((entry, index) => ({
      // The schema has refused patterns that cannot be read.
      pattern: parseHostPattern(entry.match) as HostPattern,
      entry: { entry, index },
    })),
  );
}
