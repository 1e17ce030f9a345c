/** Pages at one distance from the seeds. */
export interface LayerSummary {
  /** Links from a seed; 0: the seeds. */
  readonly depth: number;
  /** Visits applied, whatever their outcome. */
  readonly visited: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  /** URLs of this depth that entered the crawl db. */
  readonly newUrls: number;
}

type Counted = Exclude<keyof LayerSummary, 'depth'>;

/** Counters by layer, nearest to the seeds first. */
export class Layers {
  readonly #layers = new Map<number, Record<Counted, number>>();

  count(depth: number, what: Counted, by = 1): void {
    let layer = this.#layers.get(depth);
    if (layer === undefined) {
      layer = { visited: 0, new: 0, modified: 0, unchanged: 0, gone: 0, newUrls: 0 };
      this.#layers.set(depth, layer);
    }
    layer[what] += by;
  }

  add(layers: readonly LayerSummary[]): void {
    for (const { depth, ...counts } of layers) {
      for (const [what, count] of Object.entries(counts)) this.count(depth, what as Counted, count);
    }
  }

  get summary(): LayerSummary[] {
    return [...this.#layers].sort(([a], [b]) => a - b).map(([depth, counts]) => ({ depth, ...counts }));
  }
}

export function sumOfLayers(parts: Iterable<readonly LayerSummary[]>): LayerSummary[] {
  const sum = new Layers();
  for (const part of parts) sum.add(part);
  return sum.summary;
}
