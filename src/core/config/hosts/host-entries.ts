import { z } from 'zod';
import { closestName } from '../../domain/closest-name.ts';
import type { OwnBounds } from '../../domain/crawl/revisit/next-visit.ts';
import {
  coversPattern,
  createFirstMatch,
  type FirstMatch,
  type HostPattern,
  parseHostPattern,
} from '../../domain/url/canonical/host-pattern.ts';
import type { Setting } from '../yaml-settings.ts';
import { HOST_KEYS, hostEntry } from './host-keys.ts';

/** Keys whose values are no secrets, even where they are written wrongly: a message repeats only these. */
const REPEATED: ReadonlySet<PropertyKey> = new Set([
  'match',
  'delay',
  'connections',
  'depth',
  'fetchesPerDay',
  'cookies',
  'protocol',
  'http2',
  'render',
  'minInterval',
  'maxInterval',
  'priority',
]);

/** The faults of `hosts:` that an issue of its schema stands for, with their places. */
export function hostFaults(setting: Setting | undefined, issue: z.core.$ZodIssue): string[] {
  const path = issue.path.slice(1);
  const name = `hosts${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')}`;
  const place = setting?.placeOf?.(path) ?? setting?.origin ?? 'default';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const guess = path.length === 1 ? closestName(key, Object.keys(HOST_KEYS)) : undefined;
      const at = setting?.placeOf?.([...path, key]) ?? place;
      return `${at} ${name}.${key}: unknown key${guess === undefined ? '' : `, did you mean ${guess}?`}`;
    });
  }
  const given = path.reduce<unknown>((inner, step) => (inner as never)?.[step], setting?.value);
  const isRepeated = REPEATED.has(path[1] ?? '') && path.length === 2 && given !== undefined;
  return [`${place} ${name}: ${issue.message}${isRepeated ? `, got ${JSON.stringify(given)}` : ''}`];
}

/** Each entry as it was written, and where. */
export function hostOrigins(setting: Setting | undefined): [string, { value: unknown; origin: string }][] {
  if (!Array.isArray(setting?.value)) return [];
  return setting.value.map((value: unknown, i) => [
    `hosts[${i}]`,
    { value, origin: setting.placeOf?.([i]) ?? setting.origin },
  ]);
}

type HostEntry = z.output<typeof hostEntry>;

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
