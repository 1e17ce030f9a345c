// core/steps/generate/: the fetch list: what is due, ranked and capped.

import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';

/** `YYYYMMDDhhmmss-nnnnn`, in UTC, with a suffix after compacting or merging. Other folders do not count. */
const NUMBERED = /^\d{14}-(\d{5,})/;

/** An id later than all others even when the clock stands still, or was set back. */
export async function newSegmentId(
  { db, segments }: { readonly db: Pick<CrawlDb, 'segments'>; readonly segments: Pick<SegmentStore, 'ids'> },
  now: number,
): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const last = [...(await db.segments()).map(({ id }) => id), ...(await segments.ids())]
    .filter((id) => NUMBERED.test(id))
    .sort()
    .at(-1);
  return last === undefined || last < stamp ? `${stamp}-00001` : idAfter(last);
}

function idAfter(id: string): string {
  const number = Number(NUMBERED.exec(id)?.[1]);
  return `${id.slice(0, 14)}-${String(number + 1).padStart(5, '0')}`;
}

/** A due URL that may be selected. */
export interface Candidate {
  readonly entry: DueEntry;
  readonly host: string;
  readonly rank: number;
}

export interface Caps {
  readonly topN: number;
  /** 0: no cap. */
  readonly maxPerHost: number;
  readonly maxPerDomain: number;
  /** URLs that a host allows today; Infinity: no cap. Absent: no host has one. */
  readonly leftOf?: ((host: string) => number) | undefined;
}

/** URLs of a host that a round may take; Infinity: no cap. */
export const placesOf = ({ maxPerHost, leftOf }: Caps, host: string): number =>
  Math.min(maxPerHost > 0 ? maxPerHost : Number.POSITIVE_INFINITY, leftOf?.(host) ?? Number.POSITIVE_INFINITY);

/** Which of the caps of a host decides {@link placesOf}. Only against the cap of a round a further round helps. */
export const hostCapOf = (caps: Caps, host: string): 'hostDay' | 'hostCap' =>
  caps.leftOf !== undefined && caps.leftOf(host) <= placesOf(caps, host) ? 'hostDay' : 'hostCap';

export interface CapCounts {
  hostDay: number;
  hostCap: number;
  domainCap: number;
  topN: number;
}

export const NO_CAP_REJECTIONS: Readonly<CapCounts> = Object.freeze({ hostDay: 0, hostCap: 0, domainCap: 0, topN: 0 });

const byRank = (a: Candidate, b: Candidate): number =>
  b.rank - a.rank || a.entry.dueAt - b.entry.dueAt || (a.entry.url < b.entry.url ? -1 : 1);

export interface SelectionDeps {
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  readonly onReject?: (candidate: Candidate, cap: keyof CapCounts) => void;
  /**
   * Whether a candidate that would be selected may be; called once for each, since it costs more than all the rest.
   * Default: any may.
   */
  readonly isAdmitted?: (candidate: Candidate) => boolean;
}

/** Share of `topN` by which candidates may exceed it before they are cut. */
const OVERHANG = 0.25;
const LEAST_OVERHANG = 1_000;

/**
 * The best candidates by rank under the caps, from a stream, in memory of about `topN` and a quarter. Hosts lie within
 * domains and domains within the whole, so the caps form a laminar matroid: what the greedy choice rejects in a part of
 * the stream it would reject in the whole, and may be forgotten at once.
 */
export class Selection {
  readonly rejected: CapCounts = { ...NO_CAP_REJECTIONS };
  #candidates: Candidate[] = [];
  /** Those of the candidates that were chosen by an earlier cut. */
  #admitted = new Set<Candidate>();
  /** Places that these take. */
  #places: PlaceCounts;
  readonly #caps: Caps;
  readonly #limit: number;
  readonly #deps: SelectionDeps;

  constructor(caps: Caps, deps: SelectionDeps) {
    this.#caps = caps;
    this.#deps = deps;
    this.#limit = caps.topN + Math.max(LEAST_OVERHANG, OVERHANG * caps.topN);
    this.#places = new PlaceCounts(caps, deps.domainOf);
  }

  add(candidate: Candidate): void {
    const { least } = this;
    if (least !== null && byRank(least, candidate) < 0) {
      this.#reject(candidate, this.#places.capOver(candidate.host) ?? 'topN');
      return;
    }
    this.#candidates.push(candidate);
    if (this.#candidates.length >= this.#limit) this.#cut();
  }

  /** The last candidate that the last cut chose; `null` while there are free places. */
  get least(): Candidate | null {
    const { topN } = this.#caps;
    return this.#admitted.size < topN ? null : (this.#candidates[topN - 1] ?? null);
  }

  /** Ends the selection: best first. */
  finish(): Candidate[] {
    this.#cut();
    return this.#candidates;
  }

  #cut(): void {
    const { topN } = this.#caps;
    const { isAdmitted = () => true, domainOf } = this.#deps;
    const counts = new PlaceCounts(this.#caps, domainOf);
    const chosen: Candidate[] = [];
    const admitted = new Set<Candidate>();
    for (const candidate of this.#candidates.sort(byRank)) {
      const cap = counts.capOver(candidate.host) ?? (chosen.length >= topN ? 'topN' : null);
      if (cap !== null) this.#reject(candidate, cap);
      else if (this.#admitted.has(candidate) || isAdmitted(candidate)) {
        counts.add(candidate.host);
        chosen.push(candidate);
        admitted.add(candidate);
      }
    }
    this.#candidates = chosen;
    this.#admitted = admitted;
    this.#places = counts;
  }

  #reject(candidate: Candidate, cap: keyof CapCounts): void {
    this.rejected[cap]++;
    this.#deps.onReject?.(candidate, cap);
  }
}

/** URLs taken of each host and domain that has a cap. */
export class PlaceCounts {
  readonly #caps: Caps;
  readonly #domainOf: (host: string) => string;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();

  constructor(caps: Caps, domainOf: (host: string) => string) {
    this.#caps = caps;
    this.#domainOf = domainOf;
  }

  /** The cap that a further URL of a host would exceed. */
  capOver(host: string): 'hostDay' | 'hostCap' | 'domainCap' | null {
    const { maxPerDomain } = this.#caps;
    if ((this.#perHost.get(host) ?? 0) >= placesOf(this.#caps, host)) return hostCapOf(this.#caps, host);
    if (maxPerDomain > 0 && (this.#perDomain.get(this.#domainOf(host)) ?? 0) >= maxPerDomain) return 'domainCap';
    return null;
  }

  add(host: string): void {
    const { maxPerDomain } = this.#caps;
    if (Number.isFinite(placesOf(this.#caps, host))) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    if (maxPerDomain === 0) return;
    const domain = this.#domainOf(host);
    this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
  }
}

/**
 * Takes one URL of each host in turn, so that every window of the list has as many hosts as possible. The order of each
 * host's URLs stays.
 */
export function interleaveHosts<T extends { readonly host: string }>(items: readonly T[]): T[] {
  const queues = new Map<string, T[]>();
  for (const item of items) {
    const queue = queues.get(item.host);
    if (queue === undefined) queues.set(item.host, [item]);
    else queue.push(item);
  }
  const result: T[] = [];
  let active = [...queues.values()];
  for (let turn = 0; active.length > 0; turn++) {
    for (const queue of active) result.push(queue[turn] as T);
    active = active.filter((queue) => queue.length > turn + 1);
  }
  return result;
}
