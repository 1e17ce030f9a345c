// steps/generate/: the fetch list: what is due, ranked and capped.
import type { DueEntry } from '../../ports/crawl-db.ts';

/** A due URL that may be selected. */
export interface Candidate {
  readonly entry: DueEntry;
  readonly host: string;
  readonly domain: string;
  readonly rank: number;
}

export interface Caps {
  readonly topN: number;
  /** 0: no cap. */
  readonly maxPerHost: number;
  readonly maxPerDomain: number;
}

export interface CapCounts {
  hostCap: number;
  domainCap: number;
  topN: number;
}

const byRank = (a: Candidate, b: Candidate): number =>
  b.rank - a.rank || a.entry.dueAt - b.entry.dueAt || (a.entry.url < b.entry.url ? -1 : 1);

/**
 * The best candidates by rank under the caps, from a stream, in memory of about twice `topN`. Hosts lie within domains
 * and domains within the whole, so the caps form a laminar matroid: what the greedy choice rejects in a part of the
 * stream it would reject in the whole, and may be forgotten at once.
 */
export class Selection {
  readonly rejected: CapCounts = { hostCap: 0, domainCap: 0, topN: 0 };
  private candidates: Candidate[] = [];
  private readonly caps: Caps;
  private readonly limit: number;
  private readonly onReject: (candidate: Candidate, cap: keyof CapCounts) => void;

  constructor(caps: Caps, onReject: (candidate: Candidate, cap: keyof CapCounts) => void = () => {}) {
    this.caps = caps;
    this.onReject = onReject;
    this.limit = 2 * caps.topN + 1_000;
  }

  add(candidate: Candidate): void {
    this.candidates.push(candidate);
    if (this.candidates.length >= this.limit) this.cut();
  }

  /** Ends the selection: best first. */
  finish(): Candidate[] {
    this.cut();
    return this.candidates;
  }

  private cut(): void {
    const { topN, maxPerHost, maxPerDomain } = this.caps;
    const perHost = new Map<string, number>();
    const perDomain = new Map<string, number>();
    const chosen: Candidate[] = [];
    for (const candidate of this.candidates.sort(byRank)) {
      const ofHost = perHost.get(candidate.host) ?? 0;
      const ofDomain = perDomain.get(candidate.domain) ?? 0;
      if (maxPerHost > 0 && ofHost >= maxPerHost) this.reject(candidate, 'hostCap');
      else if (maxPerDomain > 0 && ofDomain >= maxPerDomain) this.reject(candidate, 'domainCap');
      else if (chosen.length >= topN) this.reject(candidate, 'topN');
      else {
        perHost.set(candidate.host, ofHost + 1);
        perDomain.set(candidate.domain, ofDomain + 1);
        chosen.push(candidate);
      }
    }
    this.candidates = chosen;
  }

  private reject(candidate: Candidate, cap: keyof CapCounts): void {
    this.rejected[cap]++;
    this.onReject(candidate, cap);
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

/** Cuts a list into parts by the partitions of its hosts, in the order of the list; empty parts are left out. */
export function inParts<T extends { readonly host: string }>(
  items: readonly T[],
  count: number,
  partitionOf: (host: string) => number,
): readonly (readonly T[])[] {
  if (count <= 1) return [items];
  const parts = Array.from({ length: count }, (): T[] => []);
  for (const item of items) parts[partitionOf(item.host) % count]!.push(item);
  return parts.filter((part) => part.length > 0);
}
