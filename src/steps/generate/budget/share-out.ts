import { type Candidate, type CapCounts, type Caps, PlaceCounts } from '../fetch-list.ts';

/** Candidates of both kinds, each list best first. */
export interface BudgetLists {
  readonly newUrls: readonly Candidate[];
  readonly known: readonly Candidate[];
}

export interface BudgetShares {
  readonly budget: number;
  /** Places that belong to new URLs. */
  readonly ofNew: number;
  readonly caps: Caps;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
}

/**
 * Fills the budget from both lists under the caps of the whole round: new URLs up to their places, known pages up to
 * the rest, then whatever is left of either. Reports each candidate that finds no place.
 */
export function shareOut(
  { newUrls, known }: BudgetLists,
  { budget, ofNew, caps, domainOf }: BudgetShares,
  onReject: (candidate: Candidate, cap: keyof CapCounts) => void,
): Candidate[] {
  const places = new Places(new PlaceCounts(caps, domainOf), budget, onReject);
  const [fromNew, fromKnown] = [newUrls.values(), known.values()];
  places.fill(fromNew, ofNew);
  places.fill(fromKnown, budget);
  places.fill(fromNew, budget);
  places.fill(fromKnown, budget);
  for (const candidate of [...fromNew, ...fromKnown]) onReject(candidate, 'topN');
  return places.taken;
}

/** The places of a round, filled one after the other. */
class Places {
  readonly taken: Candidate[] = [];
  readonly #counts: PlaceCounts;
  readonly #budget: number;
  readonly #onReject: (candidate: Candidate, cap: keyof CapCounts) => void;

  constructor(counts: PlaceCounts, budget: number, onReject: (candidate: Candidate, cap: keyof CapCounts) => void) {
    this.#counts = counts;
    this.#budget = budget;
    this.#onReject = onReject;
  }

  /** Takes the next candidates, at most `upTo` and as long as there are places; those over a cap are reported. */
  fill(candidates: Iterator<Candidate>, upTo: number): void {
    const end = Math.min(this.#budget, this.taken.length + upTo);
    while (this.taken.length < end) {
      const next = candidates.next();
      if (next.done) return;
      const cap = this.#counts.capOver(next.value.host);
      if (cap === null) {
        this.#counts.add(next.value.host);
        this.taken.push(next.value);
      } else this.#onReject(next.value, cap);
    }
  }
}
