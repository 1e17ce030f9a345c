import type { Candidate, CapCounts, Caps } from '../fetch-list.ts';

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
}

/**
 * Fills the budget from both lists under the caps of the whole round: new URLs up to their places, known pages up to
 * the rest, then whatever is left of either. Reports each candidate that finds no place.
 */
export function shareOut(
  { newUrls, known }: BudgetLists,
  { budget, ofNew, caps }: BudgetShares,
  onReject: (candidate: Candidate, cap: keyof CapCounts) => void,
): Candidate[] {
  const places = new Places(caps, budget, onReject);
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
  readonly #caps: Caps;
  readonly #budget: number;
  readonly #onReject: (candidate: Candidate, cap: keyof CapCounts) => void;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();

  constructor(caps: Caps, budget: number, onReject: (candidate: Candidate, cap: keyof CapCounts) => void) {
    this.#caps = caps;
    this.#budget = budget;
    this.#onReject = onReject;
  }

  /** Takes the next candidates, at most `upTo` and as long as there are places; those over a cap are reported. */
  fill(candidates: Iterator<Candidate>, upTo: number): void {
    const end = Math.min(this.#budget, this.taken.length + upTo);
    while (this.taken.length < end) {
      const next = candidates.next();
      if (next.done) return;
      const cap = this.#capOver(next.value);
      if (cap === null) this.#take(next.value);
      else this.#onReject(next.value, cap);
    }
  }

  #capOver({ host, domain }: Candidate): 'hostCap' | 'domainCap' | null {
    const { maxPerHost, maxPerDomain } = this.#caps;
    if (maxPerHost > 0 && (this.#perHost.get(host) ?? 0) >= maxPerHost) return 'hostCap';
    return maxPerDomain > 0 && (this.#perDomain.get(domain) ?? 0) >= maxPerDomain ? 'domainCap' : null;
  }

  #take(candidate: Candidate): void {
    const { host, domain } = candidate;
    this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
    this.taken.push(candidate);
  }
}
