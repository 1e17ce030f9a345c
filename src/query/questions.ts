// query/: questions that other processes may ask about a crawl, whoever holds its crawl db.

import type { Config } from '../core/config/schema.ts';
import { CrawlError } from '../core/domain/errors.ts';
import { type Expression, type Matches, matcherOf, needsContent } from '../core/domain/query/expression.ts';
import { canonicalUrl } from '../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../core/domain/url/canonical/url-key.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Log } from '../core/ports/log.ts';
import type { FingerprintTables } from '../core/ports/near.ts';
import type { SeenFilter } from '../core/ports/seen-filter.ts';
import type { OnWork } from '../core/ports/work-progress.ts';
import type { BudgetView } from '../core/steps/facts/fetch-budget.ts';
import { dueEntries, findRecords, type QueryReport, type RecordQuery } from '../core/steps/records/find-records.ts';
import { workMeter } from '../core/steps/work-meter.ts';
import {
  type ChangesQuery,
  type ChangeView,
  changeViews,
  type FeedView,
  feedView,
} from '../delivery/changes/changes.ts';
import type { QueryDb, QuestionPlugins } from '../operations/deps.ts';
import { domainOf } from '../operations/system/domain-of.ts';
import type { BrokenLinkView, InlinkView } from './pages/inlinks.ts';
import type { SeenView } from './pages/seen-view.ts';
import type { Explanation } from './records/explain.ts';
import type { Grouping, HostQuery } from './records/find-hosts.ts';
import type { StatsView } from './records/like-urls-waiting.ts';
import type { NearOptions, NearPage } from './records/near-pages.ts';
import type { SimulateSummary } from './records/simulate.ts';
import {
  type DueView,
  dueView,
  type HostView,
  hostView,
  type RecordRow,
  type RecordView,
  recordView,
  rowMaker,
} from './records/views.ts';

/** Sources of answers; each is opened when the first question needs it. */
export interface QuestionDeps {
  /** State directory, absolute. */
  readonly dir: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onWork?: OnWork | undefined;
  db(): Promise<QueryDb>;
  /** Indexes beside the records. Rejects with `db-locked` if the crawl db was opened without them. */
  indexes(): Promise<{ readonly tables: FingerprintTables | null; readonly filter: SeenFilter | null }>;
  config(): Promise<Config>;
  /** URL plugins and schedules, as configured. */
  plugins(): Promise<QuestionPlugins>;
}

/** `value`: one answer. */
const value = <Args extends unknown[], Answer>(
  answer: (deps: QuestionDeps, ...args: Args) => Promise<Answer>,
): { readonly kind: 'value'; readonly answer: typeof answer } => ({ kind: 'value', answer });

/** `stream`: items, and a return value at the end. */
const stream = <Args extends unknown[], Item, End = void>(
  answer: (deps: QuestionDeps, ...args: Args) => AsyncGenerator<Item, End, undefined>,
): { readonly kind: 'stream'; readonly answer: typeof answer } => ({ kind: 'stream', answer });

/**
 * All questions that are answered without changing the crawl. Arguments and answers are plain data, so a process that
 * holds the crawl db answers them for other processes over a socket (`src/remote/questions`). Code that few questions
 * need is imported on demand: loading it takes longer than most answers.
 */
export const QUESTIONS = {
  /** `full`: read the due index, however large it is, for the counts that no counter holds. */
  stats: value(async (deps, options: { readonly full?: boolean } = {}): Promise<StatsView> => {
    const { statsOf } = await import('../core/steps/records/stats.ts');
    const { likeUrlsWaiting } = await import('./records/like-urls-waiting.ts');
    const { newSettings } = await import('./records/new-settings.ts');
    const db = await deps.db();
    const more = { ...options, settings: await newSettings(deps), onWork: deps.onWork };
    return { ...(await statsOf(db, deps.clock.now(), more)), likeUrls: await likeUrlsWaiting(db) };
  }),
  /** The fetch budget of the last round; `null` where it had none. */
  budget: value(async (deps): Promise<BudgetView | null> => {
    const { budgetView, summedBudget } = await import('../core/steps/facts/fetch-budget.ts');
    const db = await deps.db();
    const views = db.parts.map((part) => budgetView(part.db, deps.clock.now()));
    return summedBudget(await Promise.all(views));
  }),
  /** URLs by host, registrable domain or top-level domain, most first. */
  groups: value(async (deps, by: Grouping) => {
    const { groupHosts } = await import('./records/find-hosts.ts');
    return groupHosts(await deps.db(), by, domainOf);
  }),
  /** Numbers of look-ups of new URLs that the cache, the filter and the crawl db answered. */
  seen: value(async (deps): Promise<SeenView> => {
    const { seenView } = await import('./pages/seen-view.ts');
    const { filter } = await deps.indexes();
    return seenView(await deps.config(), await deps.db(), filter);
  }),
  record: value(async (deps, url: string): Promise<RecordView | null> => {
    const datum = await (await deps.db()).get(canonicalOf(url));
    return datum === undefined ? null : recordView(datum);
  }),
  /** Which of the URLs have a record. */
  known: value(async (deps, urls: readonly string[]): Promise<boolean[]> => {
    const found = await (await deps.db()).getMany(urls);
    return found.map((datum) => datum !== undefined);
  }),
  /** Records under any conditions; returns the index that was read and the number of rows. */
  records: stream(recordsOf),
  /** As `records`, reduced to the named fields; see `QUERY_FIELDS`. */
  select: stream(async function* (
    deps,
    query: RecordQuery,
    fields: readonly string[],
  ): AsyncGenerator<RecordRow, QueryReport, undefined> {
    const found = await findDeps(deps);
    return yield* shaped(findRecords(found, query), rowMaker(fields, found));
  }),
  /** By score, highest first. */
  topN: value(async (deps, count: number): Promise<RecordView[]> => {
    const best: RecordView[] = [];
    for await (const record of recordsOf(deps, { sort: 'score:desc', limit: count })) best.push(record);
    return best;
  }),
  /** URLs that are due at a time (default: now), or have been due for `forMs` at that time. */
  due: stream(async function* (
    deps,
    { limit, at = deps.clock.now(), forMs = 0 }: DueOptions = {},
  ): AsyncGenerator<DueView, QueryReport, undefined> {
    return yield* shaped(dueEntries(await deps.db(), at - forMs, limit, deps.onWork), dueView);
  }),
  /** `full`: with the change rates, which need a pass over the due index, however large it is. */
  hosts: stream(async function* (
    deps,
    { full = false, ...query }: HostQuery & { readonly full?: boolean } = {},
  ): AsyncGenerator<HostView, void, undefined> {
    const db = await deps.db();
    const env = { now: deps.clock.now(), domainOf };
    const { findHosts } = await import('./records/find-hosts.ts');
    const { changesPerDay, isDueIndexRead } = await import('../core/steps/records/stats.ts');
    const changes = (await isDueIndexRead(db, full)) ? await changesPerDay(db, deps.clock.now(), deps.onWork) : null;
    for await (const row of findHosts(db, env, query))
      yield hostView(row, deps.clock.now(), changes?.get(row.host) ?? null);
  }),
  /** Live pages that link to a URL, with the text of their links: a pass over stored outlinks and over segments. */
  inlinks: stream(async function* (
    deps,
    url: string,
    { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {},
  ): AsyncGenerator<InlinkView, void, undefined> {
    const { inlinksOf } = await import('./pages/inlinks.ts');
    const { parts } = await linkSources(deps);
    yield* inlinksOf(parts, canonicalOf(url), limit);
  }),
  /**
   * Links to URLs that are gone or fail, with the pages that contain them, by the broken URL; a pass as for `inlinks`.
   */
  brokenLinks: stream(async function* (
    deps,
    { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {},
  ): AsyncGenerator<BrokenLinkView, void, undefined> {
    const { brokenLinks } = await import('./pages/inlinks.ts');
    const { db, parts } = await linkSources(deps);
    yield* brokenLinks({ db, parts }, deps.dir, limit);
  }),
  /** Entries of the change feed, oldest first; with `newest`, the last ones, in the same order. */
  changes: stream(async function* (deps, query: ChangesQuery = {}): AsyncGenerator<ChangeView, void, undefined> {
    yield* changeViews(await deps.db(), query, { now: deps.clock.now(), domainOf });
  }),
  /** The first and the last number of the change feed. */
  changeFeed: value(async (deps): Promise<FeedView> => feedView(await deps.db())),
  /** Why a URL is, or is not, fetched. */
  explain: value(async (deps, url: string): Promise<Explanation> => {
    const { explainUrl } = await import('./pages/explain-url.ts');
    // Plugins first, so that the crawl db is held no longer than the answer takes.
    const [config, plugins] = [await deps.config(), await deps.plugins()];
    const canonical = canonicalUrl(url);
    const asked = await deps.db();
    const { db, dir } = 'url' in canonical ? asked.partOf(hostOf(canonical.url)) : { db: asked, dir: deps.dir };
    return explainUrl({ plugins, config, db, dir, now: deps.clock.now() }, url);
  }),
  /** Pages with signatures near that of a page; `null` when the page is unknown or has no signature. */
  near: value(
    async (
      deps,
      url: string,
      options: Omit<NearOptions, 'scope'> & { readonly scope?: NearOptions['scope'] },
    ): Promise<NearPage[] | null> => {
      const { nearPages } = await import('./records/near-pages.ts');
      const { scope } = (await deps.config()).dedup;
      const { tables } = await deps.indexes();
      return nearPages({ db: await deps.db(), tables, domainOf }, canonicalOf(url), { scope, ...options });
    },
  ),
  /** Visits that fall due in the next days. */
  plan: value(async (deps, options: { readonly days?: number; readonly budgetPerDay?: number } = {}) => {
    const { planAhead } = await import('./records/plan.ts');
    const { newSettings } = await import('./records/new-settings.ts');
    const { days = 7, budgetPerDay = (await deps.config()).generate.budgetPerDay } = options;
    const { policy } = await deps.plugins();
    const [now, settings] = [deps.clock.now(), await newSettings(deps)];
    return planAhead(await deps.db(), { now, days, budgetPerDay, policy, settings, onWork: deps.onWork });
  }),
  /** The stored visits replayed through schedules, by name. */
  simulate: value(
    async (
      deps,
      { schedules, host }: { readonly schedules: readonly string[]; readonly host?: string },
    ): Promise<SimulateSummary> => {
      const { simulateSchedules } = await import('./records/simulate.ts');
      const { unknownName } = await import('../core/plugin-host/parsing/load-parsing.ts');
      const { loaded, policy } = await deps.plugins();
      const named = schedules.map((name) => {
        const schedule = loaded.schedules.get(name);
        if (schedule === undefined) throw unknownName('--schedule', name, loaded.schedules.keys());
        return schedule;
      });
      const meter = workMeter(deps.onWork, 'replaying visits of records');
      return simulateSchedules(await deps.db(), named, policy, { ...(host === undefined ? {} : { host }), meter });
    },
  ),
};

export interface DueOptions {
  readonly limit?: number;
  /** Ms since the epoch. */
  readonly at?: number;
  readonly forMs?: number;
}

export type Question = keyof typeof QUESTIONS;

type QuestionMethod<Entry> = Entry extends {
  readonly answer: (deps: QuestionDeps, ...args: infer Args) => infer Answer;
}
  ? (...args: Args) => Answer
  : never;

/** The questions as methods. */
export type CrawlReader = { readonly [Name in Question]: QuestionMethod<(typeof QUESTIONS)[Name]> };

export function crawlReader(deps: QuestionDeps): CrawlReader {
  const asked = Object.entries(QUESTIONS).map(([name, { answer }]) => {
    const answerOf = answer as (deps: QuestionDeps, ...args: unknown[]) => unknown;
    return [name, (...args: unknown[]) => answerOf(deps, ...args)];
  });
  return Object.fromEntries(asked) as unknown as CrawlReader;
}

async function findDeps(deps: QuestionDeps) {
  const { clock, random, onWork } = deps;
  const env = { now: clock.now(), domainOf };
  const matchesOf = async (expression: Expression): Promise<Matches> => {
    if (!needsContent(expression)) return matcherOf(expression, env);
    const { pageMatches } = await import('../operations/state/page-matches.ts');
    return pageMatches(await storedParts(deps), expression, env);
  };
  return { ...env, db: await deps.db(), random, onWork, matchesOf };
}

/** Segments are only read here, so there is nothing to warn about. */
const NO_LOG: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The segments of each partition have a folder of their own. */
async function storedParts(deps: QuestionDeps) {
  const { openSegments } = await import('../operations/state/open-segments.ts');
  const config = await deps.config();
  const { parts } = await deps.db();
  return parts.map(({ db, dir }) => ({ db, segments: openSegments({ config, dir, log: NO_LOG }) }));
}

async function linkSources(deps: QuestionDeps) {
  // Plugins first, so that the crawl db is held no longer than the answer takes.
  const { loaded } = await deps.plugins();
  const parts = (await storedParts(deps)).map((part) => ({ ...part, plugins: loaded, onWork: deps.onWork }));
  return { db: await deps.db(), parts };
}

async function* recordsOf(
  deps: QuestionDeps,
  query: RecordQuery = {},
): AsyncGenerator<RecordView, QueryReport, undefined> {
  return yield* shaped(findRecords(await findDeps(deps), query), recordView);
}

function canonicalOf(url: string): string {
  const canonical = canonicalUrl(url);
  if ('error' in canonical) throw new CrawlError('url-invalid', `${url}: ${canonical.error}`);
  return canonical.url;
}

/** Maps the items of a generator; the return value is kept. */
async function* shaped<Item, Shape, End>(
  items: AsyncGenerator<Item, End, undefined>,
  shape: (item: Item) => Shape,
): AsyncGenerator<Shape, End, undefined> {
  try {
    for (;;) {
      const step = await items.next();
      if (step.done) return step.value;
      yield shape(step.value);
    }
  } finally {
    // A reader that leaves early closes the source as well; after the last item this does nothing.
    await items.return(undefined as never);
  }
}
