/** A made crawl of any size: a pure function from the number of a URL to its record, its links, and parse output. */
import { type CrawlDatum, newDatum, type Visit } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { hostPrefix } from '../../src/core/domain/url/canonical/url-key.ts';
import type { FetchedRecord, Outlink, ParsedRecord } from '../../src/core/ports/segment-store.ts';

/** The time of all measurements. */
export const NOW = Date.UTC(2026, 5, 1);
/** URLs of a block: a site, or one of the parts of the largest site. */
export const BLOCK = 2_500;
/** One block in so many belongs to the largest site. */
const LARGEST = 8;
/** One URL in so many was fetched; the others were found in its links. */
const FETCHED = 10;
const LINKS = 60;
/** Of the links of a page, those to pages of its own block. */
const OWN_LINKS = 55;
const BLOCKS_OF_PAGE = 12;
/** Known pages that are due now, in a crawl of any size; the others come due over three months. */
const DUE_KNOWN = 20_000;

/** A number without system for another, 32 bits (the finalizer of MurmurHash3). */
function mixed(n: number): number {
  let hash = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const hex = (n: number): string => mixed(n).toString(16).padStart(8, '0');

const hostOfBlock = (block: number): string =>
  block % LARGEST === 0 ? 'www.largest-site.com' : `www.site-${hex(block)}.com`;

const folderOfBlock = (block: number): string => (block % LARGEST === 0 ? `/part-${hex(block)}` : '');

/** The start of all URLs of a block. */
const startOfBlock = (block: number): string => `https://${hostOfBlock(block)}${folderOfBlock(block)}`;

/** Blocks in the order of their keys. */
export function blocksInOrder(from: number, to: number): number[] {
  const keyed = Array.from({ length: to - from }, (_, i) => {
    const block = from + i;
    return { block, key: `${hostPrefix(hostOfBlock(block))}${folderOfBlock(block)}` };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ block }) => block);
}

/** URLs of the block of the last record: most links stay within it. */
let known: { readonly block: number; readonly urls: (string | undefined)[] } = { block: -1, urls: [] };

export function urlOf(n: number): string {
  const block = Math.floor(n / BLOCK);
  if (block !== known.block) return madeUrl(block, n % BLOCK);
  known.urls[n % BLOCK] ??= madeUrl(block, n % BLOCK);
  return known.urls[n % BLOCK] as string;
}

function madeUrl(block: number, place: number): string {
  const title = [0, 1, 2].map((i) => wordOf(4 * (block * BLOCK + place) + i)).join('-');
  return `${startOfBlock(block)}/section-${Math.floor(place / 100)}/${title}-${place}.html`;
}

const SYLLABLES = 'ba cor di fen gu lam mo nis pe ras so ti ur vel wa zon'.split(' ');

/** A word of two to five syllables. */
function wordOf(n: number): string {
  const bits = mixed(n);
  let word = '';
  for (let i = 0; i < 2 + (bits & 3); i++) word += SYLLABLES[(bits >>> (4 + 4 * i)) & 15];
  return word;
}

const isFetched = (n: number): boolean => n % FETCHED === 0;

/** @param urls size of the crawl db that is built */
export function datumOf(n: number, urls: number): CrawlDatum {
  const block = Math.floor(n / BLOCK);
  if (known.block !== block) known = { block, urls: [] };
  const url = urlOf(n);
  const score = 1 / (1 + (mixed(n) % 97));
  const fresh = newDatum({
    url,
    // The links of a page are found at the same moment.
    now: NOW - 60 * DAY_MS + Math.floor(n / FETCHED),
    intervalMs: 30 * DAY_MS,
    score,
    depth: n % 9,
    referrer: isFetched(n) ? null : urlOf(n - (n % FETCHED)),
  });
  return isFetched(n) ? fetched(fresh, n, urls) : fresh;
}

function fetched(datum: CrawlDatum, n: number, urls: number): CrawlDatum {
  const days = 1 + (mixed(n + 1) % 90);
  const isDue = mixed(n + 2) % Math.ceil(urls / FETCHED / DUE_KNOWN) === 0;
  const visits: Visit[] = [0, 1, 2].map((i) => ({
    at: NOW - (40 - 10 * i) * DAY_MS + i,
    outcome: i === 0 ? 'new' : i === 1 ? 'modified' : 'unchanged-304',
    distance: i === 1 ? 9 : null,
    elapsedMs: i === 0 ? null : 10 * DAY_MS,
    bytes: i === 2 ? 0 : 36_000,
    intervalMs: 10 * DAY_MS,
  }));
  const blocks = Array.from({ length: BLOCKS_OF_PAGE }, (_, i) => ({
    key: mixed(i),
    print: mixed(n * BLOCKS_OF_PAGE + i),
    isMain: i > 2,
    churn: i % 3,
  }));
  return {
    ...datum,
    state: 'fetched',
    lastFetchAt: NOW - 20 * DAY_MS,
    changedAt: NOW - 30 * DAY_MS,
    nextFetchAt: isDue ? NOW - days * 60_000 : NOW + days * DAY_MS + (n % 86_400) * 1_000,
    schedule: {
      intervalMs: days * DAY_MS,
      belief: { changes: 0.5 + (n % 37), watchedMs: (7 + (n % 61)) * DAY_MS, newUrls: 0, noise: 0.1, mostMs: null },
    },
    httpStatus: 200,
    contentType: 'text/html; charset=utf-8',
    validators: { etag: `"${hex(n)}-5f3a"`, lastModified: 'Tue, 14 Nov 2023 22:13:20 GMT', contentLength: 36_864 },
    digest: digestOf(n),
    // One page in fifty repeats the page before.
    signature: signatureOf(n % (50 * FETCHED) === 0 && n % BLOCK !== 0 ? n - FETCHED : n),
    signatureName: 'simhash64/1',
    title: `Article ${n} of a site, with a title of the usual length`,
    textChars: 4_000,
    blocks: { blocks, changed: [], volatile: [], places: '', contentChars: 4_000 },
    visits,
  };
}

const digestOf = (n: number): string => Array.from({ length: 8 }, (_, i) => hex(8 * n + i)).join('');
const signatureOf = (n: number): string => hex(2 * n + 0x51_0000) + hex(2 * n + 0x51_0001);

/** Links of a fetched page to known pages; together they name every URL. `null`: the page was not fetched. */
export function linksOf(n: number, urls: number): string[] | null {
  if (!isFetched(n)) return null;
  const links = knownLinks(n, urls, OWN_LINKS);
  for (let i = OWN_LINKS; i < LINKS; i++) links.push(urlOf((mixed(n * LINKS + i) % (urls / BLOCK)) * BLOCK));
  return links;
}

function knownLinks(n: number, urls: number, count: number): string[] {
  const start = n - (n % BLOCK);
  return Array.from({ length: count }, (_, i) => urlOf(start + ((n - start + i - 20 + BLOCK) % BLOCK))).filter(
    (_, i) => i !== 20 && start < urls,
  );
}

/** Outlinks of a page at a visit: two thirds to known pages, the others to pages not met before. */
function outlinksOf(url: string, number: number, urls: number): Outlink[] {
  const known = (2 * LINKS) / 3;
  const block = mixed(number) % (urls / BLOCK);
  const targets = knownLinks(block * BLOCK + (number % BLOCK), urls, known - 5);
  for (let i = 0; i < 5; i++) targets.push(urlOf((mixed(number * 5 + i) % (urls / BLOCK)) * BLOCK));
  const own = url.slice(0, url.indexOf('/', 'https://'.length));
  for (let i = targets.length; i < LINKS; i++) targets.push(`${own}/found/${hex(number)}-${i}.html`);
  return targets.map((target) => ({ url: target, anchor: 'An article', rel: 'link', nofollow: false }));
}

/** A page as it is parsed at a visit. */
export const parsedAt = (url: string, index: number, number: number, urls: number): ParsedRecord => ({
  index,
  url,
  outcome: {
    kind: 'parsed',
    signature: signatureOf(number + 0x2000_0000),
    signatureName: 'simhash64/1',
    title: `Article ${number} of a site, with a title of the usual length`,
    textChars: 4_000,
    blocks: Array.from({ length: BLOCKS_OF_PAGE }, (_, i) => ({
      path: `body/main/p[${i}]`,
      print: mixed(number * BLOCKS_OF_PAGE + i),
      isMain: i > 2,
      chars: 100,
    })),
    places: [],
    stated: null,
    noindex: false,
    metadata: {},
  },
  contentType: 'text/html',
  charset: 'utf-8',
  lang: 'en',
  canonical: null,
  text: '',
  outlinks: outlinksOf(url, number, urls),
});

export const fetchedAt = (number: number): FetchedRecord['outcome'] => ({
  kind: 'success',
  at: NOW,
  requests: 1,
  bodyBytes: 9_000,
  receivedBytes: 9_400,
  ms: 120,
  status: 200,
  contentType: 'text/html; charset=utf-8',
  robotsTag: null,
  validators: { etag: `"${hex(number)}-6a11"`, lastModified: null, contentLength: 36_864 },
  digest: digestOf(number + 0x1000_0000),
  truncated: false,
  audit: null,
});

/** A seed that the made crawl does not have, on one of its sites. */
export const seedOf = (n: number, urls: number, name: string): string =>
  `${startOfBlock(mixed(n) % (urls / BLOCK))}/seeds-${name}/${hex(n)}-${n}.html`;
