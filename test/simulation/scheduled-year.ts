import { seeded } from '../../bench/harness/seeded.ts';
import type { SettlePolicy } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule, FRESHNESS_DEFAULTS } from '../../src/core/domain/crawl/schedules/freshness.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { FetchOutcome } from '../../src/core/domain/crawl/states/outcome.ts';
import { encodeParsed } from '../../src/core/plugin-host/parsing/encode-parsed.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import { NO_SKIP_SINK } from '../../src/core/steps/counters/outcome-counts.ts';
import { generate } from '../../src/core/steps/generate/generate.ts';
import { UrlAdmission } from '../../src/core/steps/update/admission.ts';
import { LinkFamilies, QueryVariants } from '../../src/core/steps/update/link-treatment.ts';
import { updateFromSegment } from '../../src/core/steps/update/updatedb.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../memory/seen-urls.ts';
import { createMemorySegmentStore } from '../memory/segment-store.ts';

export const DAY = 86_400_000;

export interface Year {
  readonly fetchesByDay: readonly number[];
  /** Of those, the ones that were answered. */
  readonly answeredByDay: readonly number[];
  /** Fetches of each round, and its budget. */
  readonly rounds: readonly { readonly fetched: number; readonly budget: number }[];
  readonly records: readonly CrawlDatum[];
  readonly end: number;
}

export interface YearPlan {
  readonly pages: number;
  readonly days: number;
  readonly roundsPerDay: number;
  readonly budgetPerDay: number;
  readonly seed: number;
  /** Pages unreachable on a day, because of robots.txt or of a host that is down; default: none. */
  readonly isRefused?: (page: number, day: number) => boolean;
}

/**
 * Scheduled rounds through the real generate and updatedb on the reference adapters, under a simulated clock. Pages
 * change at random at their own rates, all known from the first day on; outcomes of fetches are computed, not
 * fetched.
 */
export async function scheduledYear(plan: YearPlan): Promise<Year> {
  const random = seeded(plan.seed);
  let now = Date.UTC(2026, 0, 1);
  const start = now;
  const clock = { now: () => now, sleep: async () => {} };
  const db: CrawlDb = createMemoryCrawlDb();
  const segments = createMemorySegmentStore();
  const seen = createMemorySeenUrls(db);
  const schedule = createFreshnessSchedule(FRESHNESS_DEFAULTS);
  const policy: SettlePolicy = {
    schedule,
    minIntervalMs: 3_600_000,
    maxIntervalMs: 90 * DAY,
    retryIntervalMs: DAY,
    maxRetryIntervalMs: 30 * DAY,
    goneIntervalsMs: [7, 14, 28, 56, 112].map((days) => days * DAY),
  };
  const urls = { apply: (url: string) => ({ url, reason: null }) };
  const rates = new Map<string, number>();
  const versions = new Map<string, { at: number; version: number }>();
  const puts = Array.from({ length: plan.pages }, (_, i) => {
    const url = `http://h${i % 20}.example/${i}`;
    rates.set(
      url,
      1 / Math.min(Math.max(Math.exp(Math.log(20) + 1.4 * (random() + random() + random() - 1.5) * 2), 1), 1_000),
    );
    return { datum: newDatum({ url, now, intervalMs: schedule.initialIntervalMs }), previous: null };
  });
  await db.write({ puts });

  const outcomeOf = (url: string, digest: string | null): { outcome: FetchOutcome; signature: string | null } => {
    const page = Number(url.split('/').at(-1));
    if (plan.isRefused?.(page, Math.floor((now - start) / DAY)) === true) {
      const outcome = { kind: 'denied', code: 'robots-unreachable', message: '', retryAt: null } as const;
      return {
        outcome: { ...outcome, at: now, requests: 0, bodyBytes: 0, receivedBytes: 0, ms: 0 },
        signature: null,
      };
    }
    const rate = rates.get(url) ?? 0;
    const last = versions.get(url) ?? { at: now, version: 0 };
    const changed = random() < -Math.expm1((-rate * (now - last.at)) / DAY);
    const version = last.version + (changed ? 1 : 0);
    versions.set(url, { at: now, version });
    const base = { at: now, requests: 1, bodyBytes: 1_000, receivedBytes: 1_200, ms: 1 };
    const validators = { etag: null, lastModified: null, contentLength: null };
    if (digest !== null && !changed) {
      return {
        outcome: { kind: 'unchanged', rung: 'digest', status: 200, validators, audit: null, ...base },
        signature: null,
      };
    }
    const signature = Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join('');
    const body = { contentType: 'text/html', robotsTag: null, digest: `${version}`.padStart(32, '0') };
    const whole = { truncated: false, audit: null } as const;
    return { outcome: { kind: 'success', status: 200, validators, ...body, ...whole, ...base }, signature };
  };

  const rounds: { fetched: number; budget: number }[] = [];
  const fetchesByDay = new Array<number>(plan.days).fill(0);
  const answeredByDay = new Array<number>(plan.days).fill(0);
  for (let round = 0; round < plan.days * plan.roundsPerDay; round++) {
    now = start + Math.round((round * DAY) / plan.roundsPerDay);
    const summary = await generate(
      {
        db,
        segments,
        clock,
        random,
        select: {
          urls,
          seedHosts: new Set(),
          rank: (entry) => entry.score,
          policy,
          domainOf: (host) => host,
          ranksNewByScoreAndTime: true,
          skips: NO_SKIP_SINK,
        },
      },
      {
        soft404: false,
        hostWaitMs: 300_000,
        auditShare: 0,
        partitionBy: 'host',
        topN: 1_000_000,
        maxPerHost: 0,
        maxPerDomain: 0,
        minScore: 0,
        minIntervalMs: 0,
        maxLayers: Number.POSITIVE_INFINITY,
        where: '',
        addDaysMs: 0,
        dryRun: false,
        budget: 0,
        budgetPerDay: plan.budgetPerDay,
        newShare: 0.5,
      },
    );
    rounds.push({ fetched: summary.selected, budget: summary.budget ?? 0 });
    const day = Math.floor(round / plan.roundsPerDay);
    fetchesByDay[day] = (fetchesByDay[day] ?? 0) + summary.selected;
    if (summary.segment === null) continue;
    const segment = await segments.open(summary.segment, 'write');
    for await (const item of segment.fetchList()) {
      const { outcome, signature } = outcomeOf(item.url, item.digest);
      const { index, url, host } = item;
      if (outcome.kind !== 'denied') answeredByDay[day] = (answeredByDay[day] ?? 0) + 1;
      await segment.addFetched({ index, url, host, outcome, observation: null }, null);
      if (outcome.kind !== 'success') continue;
      const parsed = {
        kind: 'parsed',
        signature,
        signatureName: 's',
        title: null,
        textChars: 0,
        stated: null,
        places: [],
        noindex: false,
        metadata: {},
      } as const;
      const record = {
        index,
        url,
        outcome: parsed,
        contentType: 'text/html',
        charset: null,
        lang: null,
        canonical: null,
      };
      await segment.addParsed(index, encodeParsed({ ...record, text: '', outlinks: [] }).encoded);
    }
    await updateFromSegment(
      {
        db,
        clock,
        policy,
        links: {
          seen,
          urls,
          skips: NO_SKIP_SINK,
          scores: { seedScore: () => 1, outlinkScore: () => 1 },
          seedHosts: new Set(),
          variants: new QueryVariants(db, 0),
          admission: new UrlAdmission(db, []),
          families: new LinkFamilies({ db, domainOf: (host: string) => host, treatment: 'demote' as const }),
        },
        near: null,
      },
      segment,
      {
        additions: true,
        purgeGone: false,
        chunk: 500,
        maxOutlinksPerPage: 100,
        followNofollow: false,
        followVariants: false,
        beyondVariants: 'demote',
        noise: 'demote',
        maxLayers: Number.POSITIVE_INFINITY,
        soft404: false,
        distrustMs: DAY,
        repeats: { distance: 3, minOverlap: 0, keep: 'first', skipOutlinks: false },
      },
    );
    await segment.close();
    await segments.remove(summary.segment);
    await db.write({ removeSegments: [summary.segment] });
  }
  const records: CrawlDatum[] = [];
  for await (const datum of db.scan()) records.push(datum);
  return { fetchesByDay, answeredByDay, rounds, records, end: now };
}
