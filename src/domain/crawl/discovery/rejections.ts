/** URLs kept out, by who refused them and the stable words of the reason: `urlfilter-traps: path repeats itself`. */
export type Rejections = Readonly<Record<string, number>>;

/** Reasons of plugins of one's own may hold anything; a crawl's summary stays short all the same. */
const MAX_KINDS = 100;
const OTHERS = 'other reasons';

/** What a reason is counted under: its words up to the first detail, after who gave it. */
export function rejectionKind(by: string, reason: string): string {
  const words = /^[^:,("]*/.exec(reason)?.[0].trim();
  return `${by}: ${words || 'refused'}`;
}

export function countRejection(counts: Record<string, number>, kind: string, by = 1): void {
  const isKnown = Object.hasOwn(counts, kind);
  const name = isKnown || Object.keys(counts).length < MAX_KINDS ? kind : OTHERS;
  counts[name] = (counts[name] ?? 0) + by;
}

/** Counts of several runs together. */
export function sumOfRejections(parts: Iterable<Rejections>): Rejections {
  const sum: Record<string, number> = {};
  for (const part of parts) for (const [kind, count] of Object.entries(part)) countRejection(sum, kind, count);
  return sum;
}
