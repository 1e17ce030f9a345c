/** Counts of refused URLs, by plugin and the constant part of the reason: `urlfilter-traps: path repeats itself`. */
export type Rejections = Readonly<Record<string, number>>;

/** Most kinds counted by themselves. Reasons of custom plugins may contain anything, but a summary must stay short. */
const MAX_KINDS = 100;
const OTHERS = 'other reasons';

/** Kind of a refusal: the plugin, then the reason up to its first detail. */
export function rejectionKind(by: string, reason: string): string {
  const words = /^[^:,("]*/.exec(reason)?.[0].trim();
  return `${by}: ${words || 'refused'}`;
}

export function countRejection(counts: Record<string, number>, kind: string, by = 1): void {
  const isKnown = Object.hasOwn(counts, kind);
  const name = isKnown || Object.keys(counts).length < MAX_KINDS ? kind : OTHERS;
  counts[name] = (counts[name] ?? 0) + by;
}

/** The sum of the counts of several runs. */
export function sumOfRejections(parts: Iterable<Rejections>): Rejections {
  const sum: Record<string, number> = {};
  for (const part of parts) for (const [kind, count] of Object.entries(part)) countRejection(sum, kind, count);
  return sum;
}
