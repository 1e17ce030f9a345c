/** Sections of the configuration: parsing, outlinks and partitions. */
import { z } from 'zod';
import { choice, duration, flag, integer, text } from '../fields.ts';

export const parse = z.strictObject({
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    unit: 'threads',
    prose: 'Worker threads that parse pages. 0: half the number of cores, at least one and at most two.',
  }),
  timeoutMs: duration({
    default: '30s',
    min: '100ms',
    max: '10m',
    prose:
      'Longest time to parse one page; after it the worker is terminated and the page recorded as parse-timeout. An ' +
      'export has the same time to convert one to Markdown; after it the page is reported and goes without.',
  }),
  maxText: integer({
    default: 1_000_000,
    min: 1000,
    max: 100_000_000,
    unit: 'characters',
    prose: 'Longest text kept of a page; the rest is cut off.',
  }),
  signature: text({
    default: 'simhash',
    pattern: /^[\w-]+$/,
    wanted: 'the name of a signature plugin without "signature-"',
    prose:
      'Signature plugin that measures how alike pages are and how much one has changed, named without "signature-".',
  }),
  storeText: flag({
    default: true,
    prose: 'Keep the text of pages in the segments, for readseg and export. Segments without it are smaller.',
  }),
});

export const outlinks = z.strictObject({
  maxPerPage: integer({
    default: 1000,
    min: 0,
    max: 1_000_000,
    unit: 'links',
    prose: 'Most links of a page that may enter the crawl db; the first ones of the page win.',
  }),
  followNofollow: flag({ default: false, prose: 'Follow links and pages marked nofollow.' }),
  followVariants: flag({
    default: false,
    prose:
      'Follow links that only name another version of their page (rel=amphtml, rel=alternate with media). Versions ' +
      'that are linked otherwise are visited, and marked as duplicates.',
  }),
  noise: choice(['demote', 'follow', 'drop'], {
    default: 'demote',
    prose:
      'Links that parsefilter-noise-links marks (navigation, footers, sidebars): demote them to a lower score ' +
      '(scoring-depth: noiseFactor), follow them like others, or drop them. Links of seeds are never noise.',
  }),
  maxVariantsPerPath: integer({
    default: 500,
    min: 0,
    max: 1_000_000,
    unit: 'URLs',
    prose: 'Query variants of one path (/list?sort=a) that enter the crawl db like other URLs. 0: no limit.',
  }),
  beyondVariants: choice(['demote', 'drop', 'follow'], {
    default: 'demote',
    prose:
      'Query variants beyond outlinks.maxVariantsPerPath: demote them to a tenth of their score, drop them, or ' +
      'follow them like others.',
  }),
});

export const linkclusters = z.strictObject({
  noise: choice(['demote', 'defer', 'drop'], {
    default: 'demote',
    prose:
      'Found links of a family that "duplicates families --apply" has stored as noise: demote them to a tenth ' +
      'of their score, defer them by one interval as well, or drop them.',
  }),
  everyMs: duration({
    default: '0s',
    min: '0s',
    max: '3650d',
    prose:
      'Time between two runs of "duplicates families --apply" that a crawl does by itself after a round, the first ' +
      'one this long after its first round. Each reads all outlinks. 0: only on request.',
  }),
});

export const partition = z.strictObject({
  by: choice(['host', 'domain'], {
    default: 'host',
    prose:
      'URLs that stay together in one of the 256 partitions of a crawl, and so on one node after repartition: those ' +
      'of a host, or of a registrable domain.',
  }),
});
