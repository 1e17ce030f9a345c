import type { ConditionRecord } from '../../domain/crawl/headers/ladder.ts';
import type { Clock } from '../../ports/clock.ts';
import { type CrawlDb, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';
import { addObservation } from './host-observations.ts';

/** Earliest next turn of hosts, ms since the epoch. */
export type HostTurns = ReadonlyMap<string, number>;

/** Fact in the crawl db: hosts that must not be contacted before a time, and when that was noted. */
export const TURNS_KEY = 'hostsResting';

/** Turns yet to come. Those noted before the clock was set back are left out: they would hold hosts up for too long. */
export async function openHostTurns(db: Pick<CrawlDb, 'meta'>, now: number): Promise<HostTurns> {
  const { at, turns } = await storedTurns(db);
  return at > now ? new Map() : new Map(turns.filter(([, until]) => until > now));
}

/** When each host may be requested, and when that was noted, by the clock of the process that noted it. */
export async function storedRests(
  db: Pick<CrawlDb, 'meta'>,
): Promise<ReadonlyMap<string, { readonly notedAt: number; readonly until: number }>> {
  const { at, turns } = await storedTurns(db);
  return new Map(turns.map(([host, until]) => [host, { notedAt: at, until }]));
}

async function storedTurns(db: Pick<CrawlDb, 'meta'>): Promise<{ at: number; turns: [string, number][] }> {
  const stored = parsed(await db.meta(TURNS_KEY));
  if (!isObject(stored) || typeof stored.at !== 'number' || !isObject(stored.until)) return { at: 0, turns: [] };
  const turns = Object.entries(stored.until);
  return { at: stored.at, turns: turns.filter((turn): turn is [string, number] => typeof turn[1] === 'number') };
}

/** The fact after further turns became known: the latest of each host, past ones left out. */
export function hostTurnFacts(
  known: HostTurns,
  further: Iterable<readonly [host: string, at: number]>,
  now: number,
): Readonly<Record<string, string>> {
  const turns = new Map(known);
  for (const [host, at] of further) turns.set(host, Math.max(at, turns.get(host) ?? at));
  const until = Object.fromEntries([...turns].filter(([, at]) => at > now));
  return { [TURNS_KEY]: JSON.stringify({ at: now, until }) };
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

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

  /** Adds to the facts of this moment: visits on other connections of the host may have ended meanwhile. */
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

/** Why no request is sent to a host now: it has asked for a pause (Retry-After). `null`: it may be requested. */
export async function restReason(
  { db, clock }: { readonly db: Pick<CrawlDb, 'hostRows'>; readonly clock: Clock },
  host: string,
): Promise<string | null> {
  const [row] = await db.hostRows([host]);
  const restUntil = row?.facts.restUntil ?? null;
  return restUntil === null || restUntil <= clock.now() ? null : reasonUntil(restUntil);
}

/**
 * Until when hosts have asked to be left alone, ms since the epoch; those that have not are left out. A fetch list has
 * the state of the time at which it was made; a sitemap or a robots.txt may have brought a pause since.
 */
export async function restsOf(
  db: Pick<CrawlDb, 'hostRows'>,
  hosts: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  const rests = new Map<string, number>();
  for (const row of await db.hostRows(hosts)) {
    const restUntil = row?.facts.restUntil ?? 0;
    if (row !== undefined && restUntil > now) rests.set(row.host, restUntil);
  }
  return rests;
}

/** Stores with a host that it has asked for a pause. Resolves with the reason, as {@link restReason} gives it. */
export async function noteRest(
  db: Pick<CrawlDb, 'hostRows' | 'write'>,
  host: string,
  restUntil: number,
): Promise<string> {
  const [row] = await db.hostRows([host]);
  const facts = row?.facts ?? NO_HOST_FACTS;
  const latest = Math.max(facts.restUntil ?? 0, restUntil);
  await db.write({ hostFacts: [{ host, facts: { ...facts, restUntil: latest } }] });
  return reasonUntil(restUntil);
}

const reasonUntil = (restUntil: number): string =>
  `the host asked for a pause until ${new Date(restUntil).toISOString()}`;
