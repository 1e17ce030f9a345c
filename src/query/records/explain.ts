import { INLINK_SCORE_KEY, INLINK_WEIGHT_KEY, INLINKS_KEY } from '../../core/domain/crawl/discovery/inlinks.ts';
import { redirectsTo } from '../../core/domain/crawl/discovery/link-rules.ts';
import { auditShareOf, NO_AUDITS } from '../../core/domain/crawl/headers/ladder.ts';
import { isPageless } from '../../core/domain/crawl/revisit/missing-links.ts';
import { isDrift, type NextVisit, replayLastVisit } from '../../core/domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule, ScheduleTerm } from '../../core/domain/crawl/revisit/schedule.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { SKIP_REASONS, type SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import { ERRORS, type ErrorCode } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import { THIN_KEY, type Thinness } from '../../core/domain/url/families/noise-families.ts';
import type { RobotsVerdict } from '../../core/ports/robots.ts';
import { WAITING_KEY } from '../../core/steps/update/like-urls/host-book.ts';
import {
  copySentences,
  type FamilyView,
  familySentence,
  ifItWereFound,
  type OutlookInput,
  partSentences,
  renderSentences,
  seriesSentences,
  truncationSentences,
  type VisitStory,
  visitStories,
  waysToComeSooner,
} from './explain-outlook.ts';
import { broughtForwardBy, dueCause, hazardSentences } from './explain-revisits.ts';
import { type HostView, hostView, type RecordView, recordView } from './views.ts';

export interface UrlStep {
  readonly name: string;
  readonly before: string;
  readonly after: string | null;
  readonly note?: string | undefined;
}

export interface Explanation {
  /** The URL as given. */
  readonly input: string;
  /** Canonical; `null` when the URL is refused. */
  readonly url: string | null;
  readonly steps: readonly UrlStep[];
  readonly admitted: boolean;
  readonly reason: string | null;
  /** From the stored copy of robots.txt; `null` without one. */
  readonly robots: {
    readonly allowed: boolean;
    readonly code: string | null;
    /** Why the newest request for robots.txt failed; `null` when it succeeded. */
    readonly fault: string | null;
    readonly rule: { readonly line: number; readonly text: string } | null;
    /** Seconds. */
    readonly crawlDelay: number | null;
    readonly fetchedAt: string;
  } | null;
  readonly record: RecordView | null;
  readonly schedule: {
    readonly name: string;
    readonly terms: readonly ScheduleTerm[];
    readonly nextFetchAt: string | null;
  } | null;
  /** The visits of the record in words, oldest first. */
  readonly visits: readonly VisitStory[];
  /**
   * The path by which it was found: the page that links to it, the page that links to that one, and so on up to a seed.
   */
  readonly trail: readonly TrailStep[];
  readonly host: HostView | null;
  /** The noise family of its URL, by `duplicates families --apply`; `null`: none. */
  readonly family: FamilyView | null;
  /**
   * Share of the visits to the host that fetch a page although its headers say "unchanged", from the host's own record:
   * the current maximum. `null` without a host.
   */
  readonly auditShare: number | null;
  /** Recent rounds that skipped it, oldest first. */
  readonly skipped: readonly SkippedBefore[];
  /** Reasons for its state and next visit, as sentences, most important first. */
  readonly why: readonly string[];
  /** Ways to bring the next visit forward. */
  readonly sooner: readonly string[];
  /** What would happen if a link to it were found; empty for a URL in the crawl db. */
  readonly ifFound: readonly string[];
}

export interface TrailStep {
  readonly url: string;
  readonly depth: number;
  readonly state: string;
}

export interface SkippedBefore {
  readonly at: string;
  readonly reason: SkipReason;
  readonly by: string | null;
  readonly detail: string | null;
  readonly from: string | null;
}

export interface ExplainInput extends OutlookInput {
  readonly input: string;
  readonly steps: readonly UrlStep[];
  readonly reason: string | null;
  readonly lastModifiedAt: number | null;
  readonly trail: readonly TrailStep[];
  /** The page that a duplicate repeats; absent if it is not in the crawl db. */
  readonly representative?: CrawlDatum | undefined;
  readonly skipped: readonly SkippedBefore[];
  /** Next visit before new settings, which the next round applies; `null`: no new settings affect it. */
  readonly movedFrom: number | null;
  /** Crawl depth that `hosts:` sets for it, as layers; Infinity: none. */
  readonly layers: number;
  /** Why its host gets no more requests today; `null`: it may get some. */
  readonly hostDayUsed: string | null;
  /** `fetch.auditShare`. */
  readonly mostAudits: number;
}

/** Explains one URL from stored data; sends no request. */
export function explain(input: ExplainInput): Explanation {
  const { robots, datum, policy } = input;
  const replay = datum === undefined ? null : replayLastVisit(datum, policy, input.lastModifiedAt);
  return {
    input: input.input,
    url: input.url,
    steps: input.steps,
    admitted: input.url !== null,
    reason: input.reason,
    robots:
      robots === undefined
        ? null
        : {
            allowed: robots.allowed,
            code: robots.code,
            fault: robots.fault,
            rule: robots.rule,
            crawlDelay: robots.crawlDelayMs === null ? null : robots.crawlDelayMs / 1_000,
            fetchedAt: isoTime(robots.fetchedAt),
          },
    record: datum === undefined ? null : recordView(datum),
    schedule:
      datum === undefined
        ? null
        : {
            name: policy.schedule.name,
            terms:
              replay === null ? pauseTerms(datum) : [...replay.terms, ...termsInForce(datum, replay, policy.schedule)],
            nextFetchAt: datum.nextFetchAt === null ? null : isoTime(datum.nextFetchAt),
          },
    visits: visitStories(datum?.visits ?? []),
    trail: input.trail,
    host: input.host === undefined ? null : hostView(input.host, input.now),
    family: input.family,
    auditShare: input.host === undefined ? null : auditShareOf(input.mostAudits, input.host.facts, NO_AUDITS),
    skipped: input.skipped,
    why: reasons(input, replay),
    sooner: waysToComeSooner(input),
    ifFound: ifItWereFound(input),
  };
}

/** The terms of the next visit if the schedule played no part: failures, refusals and "gone" have their own pauses. */
function pauseTerms(datum: CrawlDatum): ScheduleTerm[] {
  const last = datum.visits.at(-1);
  if (last === undefined) return [];
  const terms: ScheduleTerm[] = [{ label: `last visit: ${last.outcome}`, value: isoTime(last.at) }];
  if (datum.failures > 0) terms.push({ label: 'failures in a row', value: datum.failures });
  if (datum.nextFetchAt !== null) terms.push({ label: 'pause', value: datum.nextFetchAt - last.at, unit: 'ms' });
  return terms;
}

/** Whether the stored interval differs from the one that the current schedule derives from the last visit. */
function isDecidedOtherwise(
  datum: CrawlDatum,
  { memory }: NextVisit,
  { goesByHazard = false }: FetchSchedule,
): boolean {
  const { intervalMs } = datum.schedule;
  return !(goesByHazard ? isDrift(memory.intervalMs - intervalMs, intervalMs) : memory.intervalMs === intervalMs);
}

/** The visit time that follows from the stored interval. */
const chosenAt = (datum: CrawlDatum, { memory, nextFetchAt }: NextVisit): number =>
  nextFetchAt + datum.schedule.intervalMs - memory.intervalMs;

function termsInForce(datum: CrawlDatum, replay: NextVisit, schedule: FetchSchedule): ScheduleTerm[] {
  if (!isDecidedOtherwise(datum, replay, schedule)) return [];
  return [{ label: 'interval in force', value: datum.schedule.intervalMs, unit: 'ms' }];
}

/** Why the next visit differs from what the terms give. */
function dateSentences(datum: CrawlDatum, replay: NextVisit, schedule: FetchSchedule): string[] {
  if (isDecidedOtherwise(datum, replay, schedule)) {
    return [
      'Its last visit led to another interval than it would today: the stored one comes from another schedule, other ' +
        'settings or another visit price, or was given with the seed, or other pages of its host have changed, or ' +
        'have not, since then.',
    ];
  }
  const { nextFetchAt } = datum;
  if (nextFetchAt === null || nextFetchAt >= chosenAt(datum, replay)) return [];
  return [
    `Its next visit was brought forward by ${broughtForwardBy(datum)}; ` +
      `the schedule had chosen ${isoTime(chosenAt(datum, replay))}.`,
  ];
}

function reasons(input: ExplainInput, replay: NextVisit | null): string[] {
  const { datum, robots, lease, now } = input;
  const why: string[] = [];
  if (input.url === null) why.push(`The URL rules refuse it: ${input.reason ?? 'no reason given'}.`);
  if (robots !== undefined && !robots.allowed) why.push(robotsSentence(robots));
  if (datum === undefined) {
    const last = input.skipped.at(-1);
    if (last !== undefined)
      why.push(`A link to it was found${last.from === null ? '' : ` on ${last.from}`} and ${skipSentence(last)}`);
    else if (input.url !== null) {
      why.push('It is not in the crawl db: it is no seed, and no page fetched so far links to it.');
    }
    return why;
  }
  if (lease !== undefined) why.push(`It is in segment ${lease.segment}, which updatedb has not applied yet.`);
  why.push(dueSentence(datum, now, input.url === null));
  if (datum.depth >= input.layers) {
    why.push(
      `No round selects it: it is ${linksFromSeed(datum.depth)}, and depth of "hosts:" is ${input.layers} for it.`,
    );
  }
  if (input.hostDayUsed !== null) why.push(`No round selects it today: ${input.hostDayUsed}.`);
  if (input.hostTurnAt !== null) why.push(turnSentence(input.hostTurnAt, robots));
  if (input.movedFrom !== null) {
    why.push(`Other settings move it there with the next round; it was due at ${isoTime(input.movedFrom)}.`);
  }
  if (replay !== null) why.push(...dateSentences(datum, replay, input.policy.schedule));
  why.push(...hazardSentences(datum, input.policy, now));
  const passed = input.skipped.at(-1);
  if (passed !== undefined && isPassedOver(datum, passed)) why.push(`It was ${skipSentence(passed)}`);
  why.push(
    ...stateSentences(datum),
    ...copySentences(datum, input.representative),
    ...renderSentences(datum, input.host?.facts.rendering ?? null),
  );
  if (input.family !== null) why.push(familySentence(input.family));
  return why;
}

function robotsSentence({ code, fault, rule }: RobotsVerdict): string {
  if (code === 'robots-unreachable') {
    const reason = fault === null ? '' : ` (${fault})`;
    return `robots.txt could not be fetched${reason}, which forbids the whole origin for now (RFC 9309).`;
  }
  return `robots.txt disallows it${rule === null ? '' : ` by line ${rule.line}, "${rule.text}"`}.`;
}

/** Whether a round has skipped it since it became due; for a failed visit, the record itself has the reason. */
function isPassedOver({ nextFetchAt }: CrawlDatum, { at, reason }: SkippedBefore): boolean {
  return SKIP_REASONS[reason].stage === 'selected' && nextFetchAt !== null && nextFetchAt <= Date.parse(at);
}

function skipSentence({ at, reason, by, detail }: SkippedBefore): string {
  const { text, remedy } = SKIP_REASONS[reason];
  const who = [by, detail].filter((each) => each !== null && each !== '').join(', ');
  return `skipped at ${at}: ${reason}${who === '' ? '' : ` (${who})`}. ${text} Decided by: ${remedy}.`;
}

function dueSentence(datum: CrawlDatum, now: number, isKeptOut: boolean): string {
  if (datum.nextFetchAt === null) {
    if (datum.state === 'orphan') return 'It is not selected any more: no live page links to it.';
    const key = isPageless(datum) ? 'schedule.missingIntervals' : 'schedule.goneIntervals';
    return `It is not selected any more: it was gone at as many visits in a row as ${key} allows.`;
  }
  if (datum.nextFetchAt > now) return `It is next due at ${isoTime(datum.nextFetchAt)}${dueCause(datum)}.`;
  const outlook = isKeptOut ? 'no round selects it while the URL rules refuse it' : 'the next generate may select it';
  return `It has been due since ${isoTime(datum.nextFetchAt)}${dueCause(datum)}; ${outlook}.`;
}

function turnSentence(at: number, robots: RobotsVerdict | undefined): string {
  const delayMs = robots?.crawlDelayMs ?? 0;
  const cause = delayMs > 0 ? ` (the Crawl-delay of its robots.txt is ${delayMs / 1_000} s)` : '';
  return `Its host must not be contacted before ${isoTime(at)}${cause}: rounds before that leave its URLs out.`;
}

function foundSentence({ referrer, seed, depth, metadata }: CrawlDatum): string {
  if (referrer === null) return seed ? 'It is a seed.' : 'It entered by a list or a dump, not by a link.';
  const how = typeof metadata.redirects === 'number' ? 'by a redirect of' : 'on';
  return `It was found ${how} ${referrer}, ${linksFromSeed(depth)}.`;
}

const linksFromSeed = (depth: number): string => `${depth} link${depth === 1 ? '' : 's'} from a seed`;

const THINNESS: Readonly<Record<Thinness, string>> = {
  'link-list':
    'It has hardly any text of its own and many links to URLs like it: its family got no further share for it.',
  index: 'It has hardly any text of its own and is an index of other pages: its family is not judged by it.',
  'little-text': 'It has hardly any text of its own: its family got half a share for it.',
};

function inlinkSentences({ metadata }: CrawlDatum): string[] {
  const { [INLINKS_KEY]: inlinks, [INLINK_SCORE_KEY]: score, [INLINK_WEIGHT_KEY]: visit } = metadata;
  if (typeof inlinks !== 'number') return [];
  const times = (factor: unknown): string => `${Number(Number(factor ?? 1).toPrecision(2))} times`;
  return [
    `About ${inlinks} links lead to it, those of another host counted once: its score is ${times(score)} what it would ` +
      `be, and a visit of it counts ${times(visit)} as much.`,
  ];
}

function stateSentences(datum: CrawlDatum): string[] {
  const sentences = [foundSentence(datum)];
  const redirects = redirectsTo(datum);
  if (redirects > 0) sentences.push(`${redirects} redirect${redirects === 1 ? '' : 's'} in a row led to it.`);
  if (datum.lastError !== null) {
    const text = ERRORS[datum.lastError.code as ErrorCode]?.text ?? '';
    const { at, code, message } = datum.lastError;
    sentences.push(`Last error at ${isoTime(at)}: ${code}, ${message}. ${text}`.trim());
  }
  const { demoted } = datum.metadata;
  if (demoted !== undefined) sentences.push(`It entered the crawl db with a lower score (${String(demoted)}).`);
  sentences.push(...inlinkSentences(datum));
  const waiting = datum.metadata[WAITING_KEY];
  if (typeof waiting === 'number') {
    sentences.push(
      `${waiting} of its links wait${waiting === 1 ? 's' : ''} for the share of ` +
        'a family of like URLs; "incrawl skipped --reason like-urls-wait" names some.',
    );
  }
  const thin = THINNESS[datum.metadata[THIN_KEY] as Thinness];
  if (thin !== undefined) sentences.push(thin);
  if (datum.target !== null) {
    const relation =
      datum.state === 'duplicate'
        ? 'is a duplicate of'
        : datum.state.startsWith('redir')
          ? 'redirects to'
          : 'redirected to';
    sentences.push(`It ${relation} ${datum.target}.`);
  }
  sentences.push(...seriesSentences(datum));
  if (datum.metadata.noindex === true) sentences.push('The page has a noindex directive: exports leave it out.');
  sentences.push(...truncationSentences(datum), ...partSentences(datum));
  if (datum.fixedIntervalMs !== null)
    sentences.push('Its interval is fixed by its seed (fixedInterval); no schedule changes it.');
  return sentences;
}
