import type { RenderTrials } from '../../../core/domain/crawl/rendering/render-trials.ts';
import { dueFacts } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { hostOf } from '../../../core/domain/url/canonical/url-key.ts';
import type { DueEntry, HostFacts, Lease, SegmentRow } from '../../../core/ports/crawl-db.ts';
import { type ClockTuple, decodeClock, encodeClock } from './clock-codec.ts';
import { parseDueKey } from './keys.ts';
import { decodeMissing, encodeMissing, type MissingTuple } from './missing-codec.ts';
import { pack, unpack } from './pack.ts';
import { type BeliefTuple, beliefOf, beliefTuple, STATE_COUNT, stateNumber, stateOfNumber } from './record-codec.ts';
import { decodeTraffic, encodeTraffic, type TrafficTuple } from './traffic-codec.ts';

/** Rows beside the records. Their layout belongs to the format version of the whole db. */

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

/** Value of a due row: all that generate needs of a URL. */
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
  /** What is `null` at the end is left out. */
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

/** The end of a host row, as far as its values are there. */
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
  while (tuple.length > 0 && tuple.at(-1) === null) tuple.pop();
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
 * Outlinks as lines of text, those on the page's own origin without it. Most links are, so this halves the largest part
 * of the db by far, and it takes a third of the time of a list of strings.
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
