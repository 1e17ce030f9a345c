import type { ConditionRecord } from '../../domain/crawl/headers/ladder.ts';
import { type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';
import { addObservation } from './host-observations.ts';

/** Facts of the hosts of a round, with what its visits have shown so far. */
export class HostsInRound {
  readonly #before: () => Readonly<Record<string, HostFacts>>;
  readonly #facts = new Map<string, HostFacts>();
  readonly #dated = new Map<string, ConditionRecord>();

  /** @param before the facts in the segment, which grow with the hosts of redirects */
  constructor(before: () => Readonly<Record<string, HostFacts>>) {
    this.#before = before;
  }

  of(host: string): HostFacts {
    return this.#facts.get(host) ?? this.#before()[host] ?? NO_HOST_FACTS;
  }

  /** Answers of this round to conditional requests for pages without an entity tag. */
  datedOf(host: string): ConditionRecord | undefined {
    return this.#dated.get(host);
  }

  /** Added to the facts as they are by now: visits on other connections of the host may have ended meanwhile. */
  add(host: string, observation: HostObservation): void {
    this.#facts.set(host, addObservation(this.of(host), observation));
  }

  /** As {@link add}, for a visit of this process. */
  observe({ host, validators }: FetchItem, observation: HostObservation): void {
    this.add(host, observation);
    const { conditionalHits = 0, conditionalMisses = 0 } = observation;
    if (validators.etag !== null || conditionalHits + conditionalMisses === 0) return;
    const known = this.#dated.get(host);
    this.#dated.set(host, {
      conditionalHits: (known?.conditionalHits ?? 0) + conditionalHits,
      conditionalMisses: (known?.conditionalMisses ?? 0) + conditionalMisses,
    });
  }

  /** @param until ms since the epoch */
  leaveAlone(host: string, until: number): void {
    this.#facts.set(host, { ...this.of(host), restUntil: until });
  }
}
