import type { DbStats, Explanation, RecordView } from '../../src/crawler/index.ts';
import type { PastRound, RoundEntry } from '../../src/crawler/views.ts';
import type { overviewPage } from '../../src/serve/pages/overview.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const NOW = Date.parse('2026-03-04T07:30:00Z');

export type OverviewData = Parameters<typeof overviewPage>[0];

const IDLE = { state: 'idle', run: null, schedule: null, workers: null } as const;
export const NO_CRAWL: OverviewData = {
  activity: IDLE,
  speeds: [],
  isSteered: false,
  rounds: [],
  hosts: { busiest: [], failing: [] },
  last: null,
  stats: null,
  statsAt: null,
  budget: null,
  now: NOW,
};

export function pastRound(at: number, counts: Partial<PastRound> = {}): PastRound {
  return {
    at,
    ms: 60_000,
    new: 0,
    modified: 0,
    unchanged: 0,
    gone: 0,
    redirected: 0,
    failed: 0,
    bytesReceived: 0,
    sample: { due: 0, overdue: 0, fresh: null, changesPerDay: null },
    ...counts,
  };
}

/** Visits as a crawl makes them: many new pages at first, then a rhythm of days and weeks. */
export function rounds(count: number, everyMs: number, size: number): PastRound[] {
  return Array.from({ length: count }, (_, i) => {
    const at = NOW - (count - 1 - i) * everyMs - 60_000;
    const wave = 1 + 0.4 * Math.sin((2 * Math.PI * at) / DAY) + 0.2 * Math.sin((2 * Math.PI * at) / (7 * DAY));
    const visits = Math.round(size * wave);
    const fresh = Math.min(0.97, 0.6 + (0.35 * i) / (0.2 * count + 1)) - 0.02 * Math.sin(i / 3);
    return pastRound(at, {
      ms: Math.min(everyMs / 2, 20 * 60_000),
      new: i < count * 0.05 + 1 ? visits : Math.round(visits * 0.02),
      modified: i === 0 ? 0 : Math.round(visits * 0.12),
      unchanged: i === 0 ? 0 : Math.round(visits * 0.8),
      gone: i === 0 ? 0 : Math.round(visits * 0.01),
      redirected: Math.round(visits * 0.01),
      failed: i % 17 === 3 ? Math.round(visits * 0.2) : Math.round(visits * 0.004),
      bytesReceived: visits * 9_000,
      sample: { due: visits, overdue: 0, fresh, changesPerDay: 0.14 * size * (DAY / everyMs), estimated: false },
    });
  });
}

export const STATS: DbStats & { readonly budget: null } = {
  urls: 128_402,
  byStatus: {
    fetched: 61_204,
    notmodified: 48_880,
    unfetched: 9_120,
    redir_perm: 5_310,
    gone: 2_301,
    duplicate: 1_204,
    parse_failed: 38,
    redir_temp: 345,
  },
  due: 1_204,
  overdue: 0,
  leased: 0,
  hosts: 412,
  interval: { min: 3_600, p50: 803_520, p95: 2_592_000, max: 7_776_000 },
  freshness: null,
  waiting: { p50: 600, p95: 3_000, max: 7_200 },
  dueByDay: [9_800, 8_100, 8_700, 6_500, 7_900, 8_300, 12_400, 5_100, 4_800, 4_400, 6_600, 3_100, 2_900, 2_500],
  byDepth: {},
  byType: {},
  byFailures: {},
  intervals: [],
  estimated: false,
  budget: null,
} as unknown as DbStats & { readonly budget: null };

export const LAST = {
  version: 1,
  at: new Date(NOW - 60_000).toISOString(),
  urls: STATS.urls,
  byStatus: STATS.byStatus,
  hosts: STATS.hosts,
  generated: 1_604,
  requests: 1_611,
  new: 31,
  modified: 188,
  notModified: 1_102,
  skippedByHeaders: 40,
  unchanged: 204,
  gone: 9,
  redirected: 14,
  failed: 6,
  partial: 0,
  robotsDenied: 10,
  newUrls: 64,
  bytesReceived: 14_680_064,
  ms: 824_000,
  cpuMs: 5_100,
  sums: { bytesReceived: 48_318_382_080 },
} as unknown as RoundEntry;

export const HOSTS: OverviewData['hosts'] = {
  busiest: [
    ['docs.example.org', 2_204],
    ['www.example.com', 1_873],
    ['a-host-with-a-rather-long-name.archive.example.net:8443', 1_204],
    ['news.example.net', 804],
    ['blog.example.org', 733],
    ['wiki.example.com', 518],
    ['shop.example.com', 51],
  ].map(([host, visits]) => ({ host: String(host), visits: Number(visits) })),
  failing: [
    { host: 'down.example.net', code: 'host-failing', visits: 41 },
    { host: 'down.example.net', code: 'connect-timeout', visits: 5 },
    { host: 'old.example.com', code: 'tls-failed', visits: 12 },
    { host: 'api.example.org', code: 'http-server-error', visits: 3 },
  ],
};

/** A year of a crawl with a budget, whose due pages exceed it on some days. */
export const YEAR: OverviewData = {
  ...NO_CRAWL,
  rounds: rounds(365 * 4, 6 * HOUR, 2_000),
  hosts: HOSTS,
  last: LAST,
  stats: STATS,
  statsAt: NOW - 4_000,
  budget: { perDay: 8_000, spentToday: 2_310 },
};

const visitsOf = (
  list: readonly (readonly [daysAgo: number, outcome: string, distance: number | null, days: number])[],
) =>
  list.map(([daysAgo, outcome, distance, days], i) => ({
    at: new Date(NOW - daysAgo * DAY).toISOString(),
    outcome,
    distance,
    elapsed: i === 0 ? null : ((list[i - 1]?.[0] ?? 0) - daysAgo) * 86_400,
    bytes: outcome === 'unchanged-304' ? 0 : 14_200,
    interval: days * 86_400,
  }));

export const VISITS = visitsOf([
  [62, 'new', null, 2],
  [60, 'unchanged-304', null, 2.4],
  [57.6, 'modified', 9, 1.8],
  [55.8, 'modified', 3, 1.7],
  [54, 'unchanged-digest', 0, 2.2],
  [51.8, 'failed', null, 2.2],
  [51.6, 'unchanged-304', null, 2.9],
  [48.7, 'unchanged-304', null, 3.8],
  [44.9, 'modified', 24, 3],
  [41.9, 'unchanged-headers', null, 4],
  [37.9, 'unchanged-304', null, 5.3],
  [32.6, 'redirect', null, 7],
  [25.6, 'modified', 14, 6],
  [19.6, 'unchanged-304', null, 8],
  [11.6, 'gone', null, 5],
  [6.6, 'modified', 31, 7.5],
]);

export function record(change: Partial<RecordView> = {}): RecordView {
  return {
    url: 'https://docs.example.org/guide/installing',
    state: 'fetched',
    discoveredAt: '2025-12-30T08:00:00.000Z',
    referrer: 'https://docs.example.org/',
    depth: 1,
    seed: false,
    score: 0.5,
    lastFetchAt: VISITS.at(-1)?.at ?? null,
    nextFetchAt: new Date(NOW + 0.9 * DAY).toISOString(),
    dueBy: 'schedule',
    changedAt: VISITS.at(-1)?.at ?? null,
    interval: 7.5 * 86_400,
    fixedInterval: null,
    failures: 0,
    lastError: null,
    httpStatus: 200,
    contentType: 'text/html',
    robotsTag: null,
    truncated: null,
    rendered: false,
    etag: '"5f3a-61c"',
    lastModified: 'Thu, 26 Feb 2026 17:01:00 GMT',
    contentLength: 14_200,
    digest: '3f786850e387550fdab836ed7e6dc881',
    signature: 'a3c59f0e11d2b684',
    changeSignature: 'a3c59f0e11d2b6a4',
    changeDigest: '5be0cd19',
    signatureName: 'simhash64-v1',
    title: 'Installing',
    textChars: 5_200,
    authors: ['Jane Doe'],
    publishedAt: '2026-03-01T08:00:00.000Z',
    modifiedAt: null,
    lang: 'en',
    changedBlocks: [],
    volatileBlocks: [],
    target: null,
    visits: VISITS,
    metadata: { 'wordcount.words': 812 },
    ...change,
  };
}

export function explanation(change: Partial<RecordView> = {}): Explanation {
  const found = record(change);
  return {
    input: found.url,
    url: found.url,
    steps: [{ name: 'urlnormalizer-basic', before: found.url, after: found.url, note: null }],
    admitted: true,
    reason: null,
    robots: {
      allowed: true,
      code: null,
      fault: null,
      rule: { line: 3, text: 'Allow: /' },
      crawlDelay: 5,
      fetchedAt: '2026-03-04T01:00:00.000Z',
    },
    record: found,
    schedule: {
      name: 'similarity',
      terms: [
        { label: 'interval before', value: 6 * 86_400_000, unit: 'ms' },
        { label: 'factor', value: 1.25 },
      ],
      nextFetchAt: found.nextFetchAt,
    },
    visits: found.visits.map(({ at, outcome }) => ({ at, rung: null, found: outcome })),
    trail: [],
    host: null,
    skipped: [],
    why: ['It was fetched at 2026-02-25 17:06 and is next due at 2026-03-05 05:06.', 'No filter refuses it.'],
    sooner: ['incrawl due touch URL makes it due in the next round.'],
    ifFound: [],
  } as unknown as Explanation;
}
