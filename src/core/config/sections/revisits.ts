/** Sections of the configuration: selection, updates, duplicates, revisit intervals and sitemaps. */
import { z } from 'zod';
import { choice, decimal, duration, durations, flag, integer, text, texts } from '../fields.ts';

export const generate = z.strictObject({
  topN: integer({
    default: 50_000,
    min: 1,
    unit: 'URLs',
    prose: 'Most URLs in a fetch list; those with the best rank win.',
  }),
  maxPerHost: integer({ default: 0, unit: 'URLs', prose: 'Most URLs of one host in a fetch list. 0: no limit.' }),
  maxPerDomain: integer({
    default: 0,
    unit: 'URLs',
    prose: 'Most URLs of one registrable domain in a fetch list. 0: no limit.',
  }),
  minScore: decimal({ default: 0, prose: 'URLs with a lower score are not selected.' }),
  minIntervalMs: duration({
    default: '0s',
    min: '0s',
    max: '3650d',
    prose:
      'URLs with a shorter revisit interval are not selected: keeps frequently changing pages out of a large round.',
  }),
  where: text({
    default: '',
    prose:
      'Only URLs whose records match this expression are selected, such as "depth <= 2 and failures < 3"; fields and ' +
      'operators are those of readdb --where. Empty: all.',
  }),
  budgetPerDay: integer({
    default: 0,
    unit: 'URLs',
    prose:
      'Fetches per day, spread evenly over the rounds and spent where they gain most freshness; fetches left over ' +
      'bring visits forward. 0: no budget, pages are visited when they are due.',
  }),
  newShare: decimal({
    default: 0.5,
    max: 1,
    prose: 'Share of the budget reserved for URLs never fetched so far. Either side may use what the other leaves.',
  }),
});

export const updatedb = z.strictObject({
  additions: flag({
    default: true,
    prose: 'Add newly found URLs to the crawl db. Without it only known pages are visited.',
  }),
  purgeGone: flag({ default: false, prose: 'Delete the records of pages that are gone for good.' }),
  orphans: choice(['off', 'mark', 'purge'], {
    default: 'mark',
    prose: 'Pages that no page links to any more: leave them, mark them as orphans, or delete their records.',
  }),
  orphanSweepEveryMs: duration({
    default: '7d',
    min: '0s',
    max: '3650d',
    prose: 'Time between two orphan sweeps, each of which reads all stored links.',
  }),
  readmitLinks: choice(['auto', 'off'], {
    default: 'auto',
    prose:
      'Links of stored pages after a change of the URL rules that may let in more: filter them again, without ' +
      'requests, or only on `updatedb --readmit-links`.',
  }),
  chunk: integer({
    default: 500,
    min: 1,
    max: 100_000,
    unit: 'pages',
    prose: 'Most pages applied to the crawl db in one atomic batch; fewer where they have many links.',
  }),
});

export const dedup = z.strictObject({
  mode: choice(['mark', 'skip-outlinks', 'off'], {
    default: 'mark',
    prose:
      'Duplicates, pages whose text is that of a known page: mark them, skip their outlinks too, or do nothing. ' +
      'Duplicates are still visited, and are no longer duplicates once their content differs.',
  }),
  scope: choice(['host', 'domain', 'all'], {
    default: 'host',
    prose: 'Pages compared with each other: those of a host, of a registrable domain, or all.',
  }),
  maxDistance: integer({
    default: 3,
    min: 0,
    max: 3,
    unit: 'bits',
    prose: 'Largest Hamming distance between the signatures of duplicates; up to 3, all pairs are found.',
  }),
  minOverlap: decimal({
    default: 0.9,
    min: 0,
    max: 1,
    prose:
      'Least share of the text that a duplicate has in common with its page: Jaccard similarity of the runs of three ' +
      'words, estimated; across hosts, the part of the shorter text that is in the longer. 0: near signatures are enough.',
  }),
  minChars: integer({
    default: 200,
    unit: 'characters',
    prose: 'Pages with less text are never duplicates: scripts may fill them in, and short notes look alike.',
  }),
  keep: choice(['first', 'latest'], {
    default: 'first',
    prose: 'Page of a duplicate pair that stays: the one known first, or the one fetched last.',
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
    default: '7d',
    min: '1s',
    max: '3650d',
    prose: 'Revisit interval of a page with no history yet.',
  }),
  minIntervalMs: duration({ default: '1h', min: '1s', max: '3650d', prose: 'Shortest revisit interval.' }),
  maxIntervalMs: duration({ default: '30d', min: '1s', max: '3650d', prose: 'Longest revisit interval.' }),
  bounds: texts({
    default: [],
    pattern: /^\S+ +(?:\d[\d.a-z]*\.\.(?:\d[\d.a-z]*)?|\.\.\d[\d.a-z]*)$/,
    wanted:
      'a host, *.domain or MIME type, and a range of durations, ' +
      'such as "news.example.org 10m..1d", "application/pdf 7d..", "*.example.org ..30d"',
    prose:
      'Shortest and longest revisit interval for some hosts or MIME types; the first matching entry applies, else ' +
      'minInterval and maxInterval.',
  }),
  retryIntervalMs: duration({
    default: '1d',
    min: '1s',
    max: '3650d',
    prose: 'Pause after a failed fetch, doubled with each consecutive failure.',
  }),
  maxRetryIntervalMs: duration({
    default: '30d',
    min: '1s',
    max: '3650d',
    prose: 'Longest pause between retries of a failing page.',
  }),
  goneIntervalsMs: durations({
    default: ['7d', '14d', '28d', '56d', '112d'],
    min: '1s',
    max: '3650d',
    prose:
      'Pauses before further visits to a page that is gone, in case it comes back; after the last one it is not ' +
      'requested again.',
  }),
  missingIntervalsMs: durations({
    default: ['30d', '60d', '120d', '180d'],
    min: '1s',
    max: '3650d',
    prose:
      'The same for a URL that has never brought a page: missing since its first visit, or refused for good. Of many ' +
      'that are due on a host, five are requested, and the others where one of these is there by now. Also the pauses ' +
      'between the times at which five of those are requested that were missing twice, or are of a folder of dead links.',
  }),
});

export const sitemaps = z.strictObject({
  mode: choice(['off', 'discover'], {
    default: 'discover',
    prose:
      "Sitemaps of the seeds' hosts, those that robots.txt names, or /sitemap.xml. discover: crawl and schedule " +
      'read them. off: only "incrawl due sitemap" does.',
  }),
  everyMs: duration({
    default: '1d',
    min: '1m',
    max: '3650d',
    prose:
      'Time between two reads of the sitemaps of a host; up to 30 days while they bring nothing, and 30, 60, 120, 180 ' +
      'days while the host has none.',
  }),
  maxFiles: integer({
    default: 50,
    min: 1,
    max: 100_000,
    unit: 'files',
    prose: 'Most sitemap files read per host, those of sitemap indexes included.',
  }),
});
