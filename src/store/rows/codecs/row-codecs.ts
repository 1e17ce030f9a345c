import type { Epoch, Found, HostClock, PageGroup } from '../../../core/domain/crawl/hazard/host-clock.ts';
import type { ChangeLevel } from '../../../core/domain/crawl/hazard/level.ts';
import type { RenderTrials } from '../../../core/domain/crawl/rendering/render-trials.ts';
import type { MissingLinks } from '../../../core/domain/crawl/revisit/missing-links.ts';
import { dueFacts } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import type { HostTraffic } from '../../../core/domain/crawl/states/host-traffic.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { hostOf } from '../../../core/domain/url/canonical/url-key.ts';
import type { DueEntry, HostFacts, Lease, SegmentRow } from '../../../core/ports/crawl-db.ts';
import { pack, unpack } from '../rows.ts';
import { parseDueKey } from './keys.ts';
import { type BeliefTuple, beliefOf, beliefTuple, STATE_COUNT, stateNumber, stateOfNumber } from './record-codec.ts';

/** Rows other than the records. Their layout is part of the format version of the whole db. */
type DueTuple = readonly [
  state: number,
  score: number,
  depth: number,
  intervalMs: number,
  lastFetchAt: number | null,
  failures: number,
  flags: number,
  belief: BeliefTuple | null,
  weight: number,
  unansweredAt: number | null,
];

const IS_NEW = 1;
const IS_FIXED = 2;

/** Value of a due row: all that generate needs to know about a URL. */
export function encodeDue(datum: CrawlDatum): Buffer {
  const { state, score, depth, intervalMs, lastFetchAt, failures, isNew, isFixed, belief, weight, unansweredAt } =
    dueFacts(datum);
  const flags = (isNew ? IS_NEW : 0) | (isFixed ? IS_FIXED : 0);
  return pack([
    stateNumber(state),
    score,
    depth,
    intervalMs,
    lastFetchAt,
    failures,
    flags,
    belief === null ? null : beliefTuple(belief),
    weight,
    unansweredAt,
  ]);
}

/** Whether the due rows of two records are the same, time included. */
export function isSameDue(a: CrawlDatum, b: CrawlDatum): boolean {
  return a.nextFetchAt === b.nextFetchAt && encodeDue(a).equals(encodeDue(b));
}

/** Of a row of the due index. */
export function dueEntryOf(key: string, bytes: Uint8Array): DueEntry {
  const { url, dueAt } = parseDueKey(key);
  return decodeDue(url, dueAt, bytes);
}

export function decodeDue(url: string, dueAt: number, bytes: Uint8Array): DueEntry {
  return decoded('due entry', url, bytes, (tuple) => {
    const [state, score, depth, intervalMs, lastFetchAt, failures, flags, belief, weight, unansweredAt] =
      tuple as unknown as DueTuple;
    return {
      url,
      dueAt,
      state: stateOfNumber(state),
      score,
      depth,
      intervalMs,
      lastFetchAt,
      failures,
      isNew: (flags & IS_NEW) !== 0,
      isFixed: (flags & IS_FIXED) !== 0,
      belief: belief === null ? null : beliefOf(belief),
      weight,
      unansweredAt,
    };
  });
}

/** A lease keeps the due row, so that the URL can be made due again without reading its record. */
export interface LeaseRow {
  readonly segment: string;
  /** `null`: not due again. */
  readonly dueAt: number | null;
  readonly due: Uint8Array;
}

export function encodeLease(row: LeaseRow): Buffer {
  return pack([row.segment, row.dueAt, row.due]);
}

export function decodeLease(url: string, bytes: Uint8Array): LeaseRow {
  return decoded('lease', url, bytes, ([segment, dueAt, due]) => ({
    segment: segment as string,
    dueAt: dueAt as number | null,
    due: due as Uint8Array,
  }));
}

export function leaseOf(url: string, bytes: Uint8Array): Lease {
  const { segment, dueAt } = decodeLease(url, bytes);
  return { url, segment, dueAt };
}

/** URLs per state, by the number of the state. */
export type StateTally = readonly number[];

export const NO_TALLY: StateTally = Object.freeze(new Array<number>(STATE_COUNT).fill(0));

export interface StoredHost {
  readonly tally: StateTally;
  readonly facts: HostFacts | null;
}

type AnswerTuple = readonly [at: number, signature: string | null, signatureName: string | null, textChars: number];
type FactsTuple = readonly [
  audits: number,
  lies: number,
  distrustedUntil: number | null,
  conditionalHits: number,
  conditionalMisses: number,
  headHits: number,
  headMisses: number,
  bytesSaved: number,
  hintHits: number,
  hintMisses: number,
  /** `null` values at the end are left out. */
  nothing?: AnswerTuple | null,
  restUntil?: number | null,
  traffic?: TrafficTuple | null,
  rendering?: readonly TrialsTuple[] | null,
  clock?: ClockTuple | null,
  missing?: MissingTuple | null,
  fetchesOfDay?: readonly [day: number, fetches: number] | null,
];
type TrialsTuple = readonly [pattern: string, renders: number, gains: number, misses: number, at: number];

export function encodeHost({ tally, facts }: StoredHost): Buffer {
  if (facts === null) return pack([tally]);
  const tuple = [
    facts.audits,
    facts.lies,
    facts.distrustedUntil,
    facts.conditionalHits,
    facts.conditionalMisses,
    facts.headHits,
    facts.headMisses,
    facts.bytesSaved,
    facts.hintHits,
    facts.hintMisses,
    ...rarelySet(facts),
  ];
  return pack([tally, tuple]);
}

/** The end of a host row, up to the last value that is set. */
function rarelySet({ nothing, restUntil, traffic, rendering, clock, missing, fetchesOfDay }: HostFacts): unknown[] {
  const tuple: unknown[] = [
    nothing === null ? null : [nothing.at, nothing.signature, nothing.signatureName, nothing.textChars],
    restUntil,
    traffic === null ? null : encodeTraffic(traffic),
    rendering === null || rendering.length === 0 ? null : rendering.map(trialsTuple),
    clock === null ? null : encodeClock(clock),
    missing === null ? null : encodeMissing(missing),
    fetchesOfDay === null ? null : [fetchesOfDay.day, fetchesOfDay.fetches],
  ];
  while (tuple.at(-1) === null) tuple.pop();
  return tuple;
}

const trialsTuple = ({ pattern, renders, gains, misses, at }: RenderTrials): TrialsTuple => [
  ...([pattern, renders, gains, misses, at] as const),
];

export function decodeHost(host: string, bytes: Uint8Array): StoredHost {
  return decoded('row of the host', host, bytes, ([tally, facts]) => ({
    tally: tally as StateTally,
    facts: facts === undefined ? null : factsOf(facts as FactsTuple),
  }));
}

function factsOf(tuple: FactsTuple): HostFacts {
  const [audits, lies, distrustedUntil, conditionalHits, conditionalMisses, headHits, headMisses, bytesSaved] = tuple;
  const [, , , , , , , , hintHits, hintMisses, answer = null, restUntil = null, ...counted] = tuple;
  const [traffic = null, rendering = null, clock = null, missing = null, ofDay = null] = counted;
  const asked = { conditionalHits, conditionalMisses, headHits, headMisses, bytesSaved };
  const nothing =
    answer === null ? null : { at: answer[0], signature: answer[1], signatureName: answer[2], textChars: answer[3] };
  return {
    ...{ audits, lies, distrustedUntil, ...asked, hintHits, hintMisses, nothing, restUntil },
    clock: clock === null ? null : decodeClock(clock),
    missing: missing === null ? null : decodeMissing(missing),
    fetchesOfDay: ofDay === null ? null : { day: ofDay[0], fetches: ofDay[1] },
    traffic: traffic === null ? null : decodeTraffic(traffic),
    rendering:
      rendering?.map(([pattern, renders, gains, misses, at]) => ({ pattern, renders, gains, misses, at })) ?? null,
  };
}

export interface StoredCounters {
  readonly tally: StateTally;
  /** Hosts with at least one URL. */
  readonly hosts: number;
  readonly leased: number;
}

export const NO_COUNTERS: StoredCounters = Object.freeze({ tally: NO_TALLY, hosts: 0, leased: 0 });

export function encodeCounters(counters: StoredCounters): Buffer {
  return pack([counters.tally, counters.hosts, counters.leased]);
}

export function decodeCounters(bytes: Uint8Array): StoredCounters {
  return decoded('counters', 'the crawl db', bytes, ([tally, hosts, leased]) => ({
    tally: tally as StateTally,
    hosts: hosts as number,
    leased: leased as number,
  }));
}

export function encodeSegment(row: SegmentRow): Buffer {
  return pack([row.state, row.createdAt, row.urls, row.applied]);
}

export function decodeSegment(id: string, bytes: Uint8Array): SegmentRow {
  return decoded('row of the segment', id, bytes, ([state, createdAt, urls, applied]) => ({
    id,
    state: state as SegmentRow['state'],
    createdAt: createdAt as number,
    urls: urls as number,
    applied: applied as number,
  }));
}

/**
 * Outlinks as lines of text; those on the page's own origin are stored without it. Most links are, so this halves the
 * part of the db that is by far the largest, and takes a third of the time of a list of strings.
 */
export function encodeLinks(url: string, targets: readonly string[]): Buffer {
  const origin = originOf(url);
  let text = '';
  for (const target of targets) {
    text += target.startsWith(origin) && target[origin.length] === '/' ? target.slice(origin.length) : target;
    text += '\n';
  }
  return Buffer.from(text);
}

export function decodeLinks(url: string, bytes: Uint8Array): string[] {
  const origin = originOf(url);
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split('\n');
  lines.pop();
  return lines.map((line) => (line[0] === '/' ? origin + line : line));
}

function originOf(url: string): string {
  return url.slice(0, url.indexOf('://') + 3) + hostOf(url);
}

function decoded<T>(what: string, of: string, bytes: Uint8Array, read: (tuple: readonly unknown[]) => T): T {
  try {
    return read(unpack(bytes));
  } catch (cause) {
    throw new CrawlError('db-corrupt', `the ${what} of ${of} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** The clock of a host, in its row: some 200 bytes for a host with one group, at most 6 KB. */
type LevelTuple = readonly [changes: number, watchedMs: number, observedMs: number, at: number | null];
type GroupTuple = readonly [number: number, level: LevelTuple, pages: number, lookedAt: number];
/** Four numbers for each group that was observed. */
type EpochTuple = readonly [from: number, to: number, found: readonly number[]];
type ClockTuple = readonly [level: LevelTuple, groups: readonly GroupTuple[], epochs: readonly EpochTuple[]];

/** Sums of chances are rounded to this fraction of a change. */
const PRECISION = 10_000;

const encodeClock = ({ level, groups, epochs }: HostClock): ClockTuple => [
  levelTuple(level),
  groups.map(({ number, level: own, pages, lookedAt }) => [number, levelTuple(own), pages, lookedAt] as const),
  epochs.map(({ from, to, found }) => [from, to, found.flatMap(foundNumbers)] as const),
];

const decodeClock = ([level, groups, epochs]: ClockTuple): HostClock => ({
  level: levelOf(level),
  groups: groups.map(([number, own, pages, lookedAt]): PageGroup => ({ number, level: levelOf(own), pages, lookedAt })),
  epochs: epochs.map(([from, to, found]): Epoch => ({ from, to, found: foundOf(found) })),
});

/** Times are whole milliseconds: fractions would take twice the space. */
const levelTuple = ({ changes, watchedMs, observedMs, at }: ChangeLevel): LevelTuple => [
  Math.round(changes * PRECISION),
  Math.round(watchedMs),
  Math.round(observedMs),
  at,
];

const levelOf = ([changes, watchedMs, observedMs, at]: LevelTuple): ChangeLevel => ({
  changes: changes / PRECISION,
  watchedMs,
  observedMs,
  at,
});

const foundNumbers = ({ group, observed, expected, visits }: Found): number[] => [
  group,
  Math.round(observed * PRECISION),
  Math.round(expected * PRECISION),
  visits,
];

function foundOf(numbers: readonly number[]): Found[] {
  const found: Found[] = [];
  for (let i = 0; i + 3 < numbers.length; i += 4) {
    const [group, observed, expected, visits] = numbers.slice(i, i + 4) as [number, number, number, number];
    found.push({ group, observed: observed / PRECISION, expected: expected / PRECISION, visits });
  }
  return found;
}

/** Raised with every change of the meaning of the numbers after it, such as what a folder of a URL is. */
const MISSING_VERSION = 1;

/** Some 20 bytes, plus 7 for each folder with dead links: at most 600. */
type MissingTuple = readonly [version: number, times: number, at: number, ...folders: number[]];

const encodeMissing = ({ times, at, folders }: MissingLinks): MissingTuple => [
  ...([MISSING_VERSION, times, at] as const),
  ...folders.flatMap(({ folder, missing, found }) => [folder, missing, found]),
];

/** `null` for data that a newer version has written: it is learnt again. */
function decodeMissing([version, times, at, ...numbers]: MissingTuple): MissingLinks | null {
  if (version !== MISSING_VERSION) return null;
  const folders: MissingLinks['folders'][number][] = [];
  for (let i = 0; i + 2 < numbers.length; i += 3) {
    folders.push({ folder: numbers[i]!, missing: numbers[i + 1]!, found: numbers[i + 2]! });
  }
  return { times, at, folders };
}

/** Raised with every change of the meaning of the numbers after it, such as the width of a step of latency. */
const TRAFFIC_VERSION = 1;

/** At most 460 bytes, mostly below 60. */
type TrafficTuple = readonly [
  version: number,
  visits: number,
  dnsFailures: number,
  connectionFailures: number,
  timeouts: number,
  receivedBytes: number,
  firstStep: number,
  ...counts: number[],
];

export function encodeTraffic(traffic: HostTraffic): TrafficTuple {
  const { visits, dnsFailures, connectionFailures, timeouts, receivedBytes, latency } = traffic;
  const { first, counts } = latency;
  return [TRAFFIC_VERSION, visits, dnsFailures, connectionFailures, timeouts, receivedBytes, first, ...counts];
}

/** `null` for data that a newer version has written: it is counted again. */
export function decodeTraffic(tuple: TrafficTuple): HostTraffic | null {
  const [version, visits, dnsFailures, connectionFailures, timeouts, receivedBytes, first, ...counts] = tuple;
  if (version !== TRAFFIC_VERSION) return null;
  return { visits, dnsFailures, connectionFailures, timeouts, receivedBytes, latency: { first, counts } };
}
