/** Sections of the configuration: what is kept of a page. */
import { z } from 'zod';
import { choice, duration, flag, integer, size, text } from '../fields.ts';

export const parse = z.strictObject({
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    unit: 'threads',
    prose: 'Worker threads that parse pages. 0: half as many as there are cores, one or two.',
  }),
  timeoutMs: duration({
    default: '30s',
    min: '100ms',
    max: '10m',
    prose: 'Longest time for one page; then its worker is ended and the page recorded as parse-timeout.',
  }),
  maxText: integer({
    default: 1_000_000,
    min: 1000,
    max: 100_000_000,
    unit: 'characters',
    prose: 'Text kept of a page; the rest is cut off.',
  }),
  maxOutlinks: integer({
    default: 5000,
    min: 0,
    max: 1_000_000,
    unit: 'links',
    prose: 'Links kept of a page as it is parsed; the rest is cut off.',
  }),
  signature: text({
    default: 'simhash',
    pattern: /^[\w-]+$/,
    wanted: 'the name of a signature plugin without "signature-"',
    prose: 'Signature plugin that measures how much a page changed, named without "signature-".',
  }),
  storeText: flag({
    default: true,
    prose: 'Keep the text of pages in the segments, for readseg and export. Without it segments are smaller.',
  }),
});

export const outlinks = z.strictObject({
  maxPerPage: integer({
    default: 1000,
    min: 0,
    max: 1_000_000,
    unit: 'links',
    prose: 'Links of a page that may enter the crawl db, in the order of the page.',
  }),
  followNofollow: flag({ default: false, prose: 'Follow links and pages marked nofollow.' }),
  noise: choice(['demote', 'follow', 'drop'], {
    default: 'demote',
    prose:
      'What happens to links that parsefilter-noise-links marks (navigation, footers, sidebars): they enter with a lower score (scoring-depth: noiseFactor), as others do, or not at all. Links of seeds are never noise.',
  }),
  maxVariantsPerPath: integer({
    default: 500,
    min: 0,
    max: 1_000_000,
    unit: 'URLs',
    prose: 'Queries of one path (/list?sort=a) that enter the crawl db as other URLs do. 0: no limit.',
  }),
  beyondVariants: choice(['demote', 'drop', 'follow'], {
    default: 'demote',
    prose:
      'What happens to further queries of the path: they enter with a tenth of their score, are kept out, or enter as others do.',
  }),
});

export const partition = z.strictObject({
  by: choice(['host', 'domain'], {
    default: 'host',
    prose:
      'What stays together in one of the 256 parts of a crawl, and with it on one node of repartition: the URLs of a host, or of a registrable domain.',
  }),
});

export const segments = z.strictObject({
  warcMaxBytes: size({
    default: '1GiB',
    min: '1MiB',
    max: '1024GiB',
    prose: 'Size of a WARC file beyond which the next one is begun.',
  }),
  gzipLevel: integer({
    default: 1,
    min: 1,
    max: 9,
    unit: '',
    prose: 'Compression of WARC records: 1 is fastest, 9 smallest.',
  }),
});
