/** Sections of the configuration: which pages are visited, when, and what becomes of the rest. */
import { z } from 'zod';
import { choice, decimal, duration, durations, flag, integer, size, text, texts } from '../fields.ts';

export const generate = z.strictObject({
  topN: integer({ default: 50_000, min: 1, unit: 'URLs', prose: 'URLs in a fetch list, best ranked first.' }),
  maxPerHost: integer({ default: 0, unit: 'URLs', prose: 'URLs of one host in a fetch list. 0: no limit.' }),
  maxPerDomain: integer({
    default: 0,
    unit: 'URLs',
    prose: 'URLs of one registrable domain in a fetch list. 0: no limit.',
  }),
  minScore: decimal({ default: 0, prose: 'URLs with a lower score are passed over.' }),
  minIntervalMs: duration({
    default: '0s',
    min: '0s',
    max: '3650d',
    prose: 'URLs with a shorter revisit interval are passed over: keeps restless pages out of a large round.',
  }),
  budgetPerDay: integer({
    default: 0,
    unit: 'URLs',
    prose:
      'Fetches a day, spread evenly over the rounds and spent where they win most freshness; what is left over brings visits forward. 0: no budget, pages are visited when they are due.',
  }),
  newShare: decimal({
    default: 0.5,
    max: 1,
    prose: 'Share of a budget that belongs to URLs never fetched so far. What either side leaves goes to the other.',
  }),
});

export const updatedb = z.strictObject({
  additions: flag({ default: true, prose: 'Add newly found URLs. Without it only known pages are visited again.' }),
  purgeGone: flag({ default: false, prose: 'Delete records of pages that are gone for good.' }),
  orphans: choice(['off', 'mark', 'purge'], {
    default: 'mark',
    prose: 'Pages that no page links to any more: leave them, mark them as orphans, or delete their records.',
  }),
  orphanSweepEveryMs: duration({
    default: '7d',
    min: '0s',
    max: '3650d',
    prose: 'Time between two searches for orphans, each of which reads all stored links.',
  }),
  readmitLinks: choice(['auto', 'off'], {
    default: 'auto',
    prose:
      'Links of stored pages, when the URL rules may let in more than before: judge them again without a request, or only when `updatedb --readmit-links` asks for it.',
  }),
  chunk: integer({
    default: 500,
    min: 1,
    max: 100_000,
    unit: 'pages',
    prose:
      'Pages applied to the crawl db in one batch, at most, which lands as a whole or not at all; fewer where they have many links.',
  }),
});

export const dedup = z.strictObject({
  mode: choice(['mark', 'skip-outlinks', 'off'], {
    default: 'mark',
    prose:
      'Pages whose signature is near that of a page known before: mark them as its duplicates, do not follow their links either, or leave them alone. Duplicates are still visited, and stand for themselves again when they change away.',
  }),
  scope: choice(['host', 'domain', 'all'], {
    default: 'host',
    prose: 'Pages that may repeat each other: those of a host, of a registrable domain, or any.',
  }),
  maxDistance: integer({
    default: 3,
    min: 0,
    max: 3,
    unit: 'bits',
    prose: 'Signatures of duplicates differ by no more than this; up to 3 none is missed.',
  }),
  minChars: integer({
    default: 200,
    unit: 'characters',
    prose: 'Pages with less text repeat nothing: scripts may fill them, and short notes are alike.',
  }),
  keep: choice(['first', 'latest'], {
    default: 'first',
    prose: 'Which page of two represents the other: the one known first, or the one seen last.',
  }),
});

export const schedule = z.strictObject({
  name: text({
    default: 'freshness',
    pattern: /^[\w-]+$/,
    wanted: 'the name of a schedule plugin without "schedule-"',
    prose: 'Schedule plugin that decides when a page is visited again, named without "schedule-".',
  }),
  intervalMs: duration({
    default: '30d',
    min: '1s',
    max: '3650d',
    prose: 'Revisit interval of a page of which nothing is known yet.',
  }),
  minIntervalMs: duration({ default: '1h', min: '1s', max: '3650d', prose: 'Shortest revisit interval.' }),
  maxIntervalMs: duration({ default: '90d', min: '1s', max: '3650d', prose: 'Longest revisit interval.' }),
  bounds: texts({
    default: [],
    pattern: /^\S+ +(?:\d[\d.a-z]*\.\.(?:\d[\d.a-z]*)?|\.\.\d[\d.a-z]*)$/,
    wanted:
      'a host, *.domain or MIME type, and a range of durations, such as "news.example.org 10m..1d", "application/pdf 7d..", "*.example.org ..30d"',
    prose:
      'Shortest and longest revisit interval for some hosts or MIME types; the first entry that fits a page decides, else minInterval and maxInterval.',
  }),
  retryIntervalMs: duration({
    default: '1d',
    min: '1s',
    max: '3650d',
    prose: 'Pause after a failed fetch; doubled with each further failure in a row.',
  }),
  maxRetryIntervalMs: duration({
    default: '30d',
    min: '1s',
    max: '3650d',
    prose: 'Longest pause between tries of a failing page.',
  }),
  goneIntervalsMs: durations({
    default: ['7d', '14d', '28d', '56d', '112d'],
    min: '1s',
    max: '3650d',
    prose: 'Pauses between visits to a page that is gone, in case it comes back; after the last it is not asked again.',
  }),
});

export const sitemaps = z.strictObject({
  mode: choice(['off', 'discover'], {
    default: 'off',
    prose:
      'Whether crawl and schedule read the sitemaps of the seeds\' hosts by themselves: those that robots.txt names, or /sitemap.xml. "incrawl sitemap" reads them at any time.',
  }),
  everyMs: duration({
    default: '1d',
    min: '1m',
    max: '3650d',
    prose: 'Time between two readings of the sitemaps of a host.',
  }),
  maxFiles: integer({
    default: 500,
    min: 1,
    max: 100_000,
    unit: 'files',
    prose: 'Sitemap files of a host, those of indexes included.',
  }),
  maxBytes: size({
    default: '50MiB',
    min: '1KiB',
    max: '1GiB',
    prose: 'Size of a sitemap, unpacked; the rest is left out.',
  }),
});
