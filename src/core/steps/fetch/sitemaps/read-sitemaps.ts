import type { OutgoingLink } from '../../../domain/crawl/discovery/forwarded-link.ts';
import {
  areDatesUseless,
  type FileValidators,
  hintTrust,
  withHint,
} from '../../../domain/crawl/discovery/sitemap-hint.ts';
import { boundsFor, type SettlePolicy } from '../../../domain/crawl/revisit/next-visit.ts';
import { newDatum } from '../../../domain/crawl/states/datum.ts';
import { canonicalUrl } from '../../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import { type CrawlDb, type CrawlDbPut, NO_HOST_FACTS, SITEMAP_LINKS_KEY } from '../../../ports/crawl-db.ts';
import type { SeenUrls } from '../../../ports/seen-filter.ts';
import { restReason } from '../../facts/host-rest.ts';
import type { UrlAdmission } from '../../update/admission.ts';
import { forwardingPart, type LinkForwarding } from '../../update/links/link-forwarding.ts';
import { shorterWayFacts } from '../../update/links/shorter-ways.ts';
import type { UrlChain } from '../../url-chain.ts';
import {
  fetchSitemap,
  type ReadSitemap,
  type SitemapFetchDeps,
  type SitemapFetchOptions,
  sitemapsNamed,
} from './fetch-sitemap.ts';

export interface SitemapDeps extends SitemapFetchDeps {
  readonly db: CrawlDb;
  readonly seen: SeenUrls;
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  readonly policy: SettlePolicy;
}

export interface SitemapOptions extends SitemapFetchOptions {
  /** Sitemap files of one host at most, those of indexes included. */
  readonly maxFiles: number;
  /** Score of URLs that enter. */
  readonly newScore: number;
  /** URLs that are judged by other partitions; `null`: a crawl of one. */
  readonly forwarding: LinkForwarding | null;
  /** Tells which listed URLs lie farther from a seed so far than by the sitemap. */
  readonly shorterWays: UrlAdmission['shorterWays'];
  /** Validators of files that need not be read again while they are as they were. */
  readonly known: Readonly<Record<string, FileValidators>>;
  /**
   * Runs work that reads records and writes them back, with no other such work at the same time. Absent: there is none.
   */
  readonly inTurn?: (<Value>(work: () => Promise<Value>) => Promise<Value>) | undefined;
}

export interface SitemapReport {
  readonly sitemap: string;
  /** Why the file could not be read; `null`: it was. */
  readonly error: string | null;
  readonly kind: string | null;
  readonly urls: number;
  readonly added: number;
  /** Known pages whose next visit was brought forward by their `lastmod`. */
  readonly hinted: number;
  /** URLs refused by the scope, by a URL filter, or as invalid. */
  readonly filtered: number;
  /** Whether the dates were ignored: all equal, or in the future. */
  readonly datesIgnored: boolean;
  readonly faults: number;
  /** With which the next request for the file is conditional; `null`: it is to be read whole. */
  readonly validators: FileValidators | null;
}

export interface HostSitemaps {
  readonly origin: string;
  readonly sitemaps: readonly SitemapReport[];
}

const NOT_READ: Omit<SitemapReport, 'sitemap'> = {
  error: null,
  kind: null,
  urls: 0,
  added: 0,
  hinted: 0,
  filtered: 0,
  datesIgnored: false,
  faults: 0,
  validators: null,
};

/** Of a file that is as it was. */
const UNCHANGED = 'unchanged';

/** Levels of sitemap indexes within indexes. */
const MAX_DEPTH = 3;
const WINDOW = 1_000;

/**
 * Reads the sitemaps of an origin: those that robots.txt names, or `/sitemap.xml`; indexes, gzip, text and feeds too.
 * New URLs enter like outlinks. A `lastmod` brings a known page forward by the trust that the dates of its host have
 * earned; `changefreq` and `priority` are ignored. The requests are as polite as any fetch: robots.txt, one request at
 * a time, the delay of the host.
 */
export async function readSitemaps(
  deps: SitemapDeps,
  origin: string,
  options: SitemapOptions,
  signal?: AbortSignal,
): Promise<HostSitemaps> {
  const notRead = (error: string): HostSitemaps => {
    return { origin, sitemaps: [{ ...NOT_READ, sitemap: `${origin}/sitemap.xml`, error }] };
  };
  const rest = await restReason(deps, hostOf(`${origin}/`));
  if (rest !== null) return notRead(rest);
  const named = await sitemapsNamed(deps, origin, options, signal);
  if (typeof named === 'string') return notRead(named);
  if (named === null) return { origin, sitemaps: [] };
  const first = named.length > 0 ? named : [`${origin}/sitemap.xml`];
  const queue = first.map((url) => ({ url, depth: 0 }));
  const visited = new Set<string>();
  const reports: SitemapReport[] = [];
  for (let next = queue.shift(); next !== undefined && visited.size < options.maxFiles; next = queue.shift()) {
    if (signal?.aborted) break;
    // Lanes and Retry-After go by canonical hosts: another spelling would pass for another host.
    const canonical = canonicalUrl(next.url);
    const { url } = 'url' in canonical ? canonical : next;
    if (visited.has(url)) continue;
    visited.add(url);
    const read =
      'url' in canonical ? await fetchSitemap(deps, url, options, signal, options.known[url]) : canonical.error;
    if (typeof read === 'string') {
      // URLs that only a vanished sitemap listed are linked from nowhere.
      if (read === 'status 404' || read === 'status 410') await deps.db.write({ links: [{ url, targets: [] }] });
      reports.push({ ...NOT_READ, sitemap: url, error: read });
      continue;
    }
    const { validators } = read;
    if (read.read === null) {
      reports.push({ ...NOT_READ, sitemap: url, kind: UNCHANGED, validators });
      continue;
    }
    const { sitemaps } = read.read;
    if (next.depth < MAX_DEPTH) for (const { loc } of sitemaps) queue.push({ url: loc, depth: next.depth + 1 });
    const listed = read.read;
    const { inTurn = (work) => work() } = options;
    const report = await inTurn(() => apply(deps, url, listed, options));
    // An index is read for its files, and other rules may admit what was filtered.
    const isWhole = sitemaps.length === 0 && report.filtered === 0 && report.faults === 0;
    reports.push(isWhole && hasAny(validators) ? { ...report, validators } : report);
  }
  return { origin, sitemaps: reports };
}

const hasAny = ({ etag, lastModified }: FileValidators): boolean => (etag ?? lastModified) !== null;

async function apply(
  deps: SitemapDeps,
  sitemap: string,
  read: ReadSitemap,
  { newScore: score, forwarding, shorterWays }: Pick<SitemapOptions, 'newScore' | 'forwarding' | 'shorterWays'>,
): Promise<SitemapReport> {
  const now = deps.clock.now();
  const intervalMs = deps.policy.schedule.initialIntervalMs;
  const entries = new Map<string, number | null>();
  let filtered = 0;
  for (const { loc, lastmod } of read.urls) {
    const { url } = deps.urls.apply(loc, { from: sitemap, depth: 1, seedHosts: deps.seedHosts, scope: 'outlink' });
    const date = lastmod === null ? Number.NaN : Date.parse(lastmod);
    if (url === null) filtered++;
    else entries.set(url, Number.isNaN(date) ? null : date);
  }
  const dates = [...entries.values()].filter((date) => date !== null);
  const datesIgnored = areDatesUseless(dates, now);
  let added = 0;
  let hinted = 0;
  const urls = [...entries.keys()];
  for (let start = 0; start < urls.length; start += WINDOW) {
    const listed = urls.slice(start, start + WINDOW);
    const window = forwarding === null ? listed : listed.filter((url) => !forwarding.isElsewhere(url));
    const forward = forwarding === null ? [] : forwardedFrom(sitemap, listed, forwarding, { at: now, score });
    const known = await deps.seen.probe(window);
    const fresh = window.filter((_, i) => known[i] !== true);
    const puts: CrawlDbPut[] = fresh.map((url) => {
      return { datum: newDatum({ url, now, intervalMs, referrer: sitemap, depth: 1, score }), previous: null };
    });
    added += fresh.length;
    const dated = datesIgnored ? [] : window.filter((url, i) => known[i] === true && entries.get(url) !== null);
    const hints = await hintsOf(deps, dated, entries, now);
    hinted += hints.length;
    const way = { parent: { url: sitemap, metadata: {} }, depth: 1 };
    const shorter = await shorterWays(
      new Map(window.map((url) => [url, way])),
      window.filter((_, i) => known[i] === true),
    );
    if (puts.length + hints.length + forward.length + shorter.length > 0) {
      const meta = await shorterWayFacts(deps.db, shorter);
      await deps.db.write({ puts: [...puts, ...hints], meta, ...forwardingPart({ forward }) });
    }
    forwarding?.note(forward);
    deps.seen.add(fresh);
  }
  // Stored as links of the sitemap: a listed URL is no orphan, even where no page links to it.
  if (urls.length > 0) {
    await deps.db.write({ links: [{ url: sitemap, targets: urls }], meta: { [SITEMAP_LINKS_KEY]: '1' } });
  }
  return {
    sitemap,
    error: null,
    kind: read.kind,
    urls: read.urls.length,
    added,
    hinted,
    filtered,
    datesIgnored: datesIgnored && dates.length > 0,
    faults: read.errors.length,
    validators: null,
  };
}

/** Listed URLs of other partitions, whose dates say nothing there. */
function forwardedFrom(
  from: string,
  listed: readonly string[],
  forwarding: LinkForwarding,
  { at, score }: { readonly at: number; readonly score: number },
): OutgoingLink[] {
  const ordinary = { from, depth: 1, at, score, plainScore: score, noise: null, redirects: 0, layers: null };
  return listed
    .filter((url) => forwarding.isElsewhere(url) && !forwarding.wasForwarded(url, ordinary.depth))
    .map((url) => ({ to: forwarding.partitionOf(url), link: { url, ...ordinary } }));
}

async function hintsOf(
  deps: SitemapDeps,
  urls: readonly string[],
  entries: ReadonlyMap<string, number | null>,
  now: number,
): Promise<CrawlDbPut[]> {
  if (urls.length === 0) return [];
  const records = await deps.db.getMany(urls);
  const hosts = [...new Set(urls.map(hostOf))];
  const rows = await deps.db.hostRows(hosts);
  const trust = new Map(hosts.map((host, i) => [host, hintTrust(rows[i]?.facts ?? NO_HOST_FACTS)]));
  const puts: CrawlDbPut[] = [];
  for (const [i, url] of urls.entries()) {
    const previous = records[i];
    const lastmod = entries.get(url);
    if (previous === undefined || lastmod === undefined || lastmod === null) continue;
    const { minIntervalMs } = boundsFor(previous, deps.policy);
    const datum = withHint(previous, lastmod, trust.get(hostOf(url)) ?? 0, now, minIntervalMs);
    if (datum !== null) puts.push({ datum, previous });
  }
  return puts;
}
