import { areDatesUseless, hintTrust, withHint } from '../../domain/crawl/discovery/sitemap-hint.ts';
import { boundsFor, type SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import { newDatum } from '../../domain/crawl/states/datum.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { Clock } from '../../ports/clock.ts';
import { type CrawlDb, type CrawlDbPut, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { Robots } from '../../ports/robots.ts';
import type { SeenUrls } from '../../ports/seen-urls.ts';
import { noteRest, restReason } from '../facts/host-rest.ts';
import type { UrlChain } from '../url-chain.ts';
import { askRobots, restAsked, verdictInTurn } from './robots-turn.ts';
import { restAskedFor } from './status-outcome.ts';

/** A sitemap as the parser reads it. */
export interface ReadSitemap {
  readonly kind: string;
  readonly urls: readonly { readonly loc: string; readonly lastmod: string | null }[];
  readonly sitemaps: readonly { readonly loc: string; readonly lastmod: string | null }[];
  readonly errors: readonly { readonly message: string }[];
}

export interface SitemapDeps {
  readonly db: CrawlDb;
  readonly seen: SeenUrls;
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  readonly clock: Clock;
  readonly policy: SettlePolicy;
  readonly network: SitemapNetwork;
  readonly parse: (body: Uint8Array, url: string) => ReadSitemap;
}

/** How hosts are asked, and which of them may be. */
export interface SitemapNetwork {
  readonly robots: Robots;
  readonly lanes: HostLanes;
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Why a host must not be asked at all; `null`: it may. */
  readonly refusal: (host: string) => string | null;
}

export interface SitemapOptions {
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** A Retry-After no longer than this is waited for; a longer one leaves the host alone, ms. */
  readonly patienceMs: number;
  /** Sitemap files of one host at most, those of indexes included. */
  readonly maxFiles: number;
  /** Of one file, content codings undone. */
  readonly maxBytes: number;
  /** Score of URLs that enter. */
  readonly newScore: number;
}

export interface SitemapReport {
  readonly sitemap: string;
  /** What went wrong with the whole file; `null`: it was read. */
  readonly error: string | null;
  readonly kind: string | null;
  readonly urls: number;
  readonly added: number;
  /** Known pages that come sooner for their `lastmod`. */
  readonly hinted: number;
  /** Kept out by scope, filters, or as URLs that are none. */
  readonly filtered: number;
  /** Whether the dates said nothing: all equal, or in the future. */
  readonly datesIgnored: boolean;
  readonly faults: number;
}

export interface HostSitemaps {
  readonly origin: string;
  readonly sitemaps: readonly SitemapReport[];
}

/** Indexes within indexes are followed this far. */
const MAX_DEPTH = 3;
const WINDOW = 1_000;

/**
 * Reads the sitemaps of an origin: those that robots.txt names, or `/sitemap.xml`; indexes, gzip, text and feeds too.
 * New URLs enter like outlinks. A `lastmod` brings a known page forward as far as dates have proven right on its host;
 * `changefreq` and `priority` are not looked at. Polite as any fetch: robots.txt, one request at a time, the host's
 * delay.
 */
export async function readSitemaps(
  deps: SitemapDeps,
  origin: string,
  options: SitemapOptions,
  signal?: AbortSignal,
): Promise<HostSitemaps> {
  const rest = await restReason(deps, hostOf(`${origin}/`));
  if (rest !== null) return { origin, sitemaps: [{ ...NOTHING, sitemap: `${origin}/sitemap.xml`, error: rest }] };
  const named = await sitemapsNamed(deps, origin, options.delayMs, signal);
  if (named === null) return { origin, sitemaps: [] };
  const first = named.length > 0 ? named : [`${origin}/sitemap.xml`];
  const queue = first.map((url) => ({ url, depth: 0 }));
  const visited = new Set<string>();
  const reports: SitemapReport[] = [];
  for (let next = queue.shift(); next !== undefined && visited.size < options.maxFiles; next = queue.shift()) {
    if (signal?.aborted) break;
    // In the spelling of lanes and rests: a host written otherwise would be asked as if it were another one.
    const canonical = canonicalUrl(next.url);
    const { url } = 'url' in canonical ? canonical : next;
    if (visited.has(url)) continue;
    visited.add(url);
    const read = 'url' in canonical ? await fetchSitemap(deps, url, options, signal) : canonical.error;
    if (typeof read === 'string') {
      // What a sitemap listed that is no more, nobody vouches for.
      if (read === 'status 404' || read === 'status 410') await deps.db.write({ links: [{ url, targets: [] }] });
      reports.push({ ...NOTHING, sitemap: url, error: read });
      continue;
    }
    if (next.depth < MAX_DEPTH) for (const { loc } of read.sitemaps) queue.push({ url: loc, depth: next.depth + 1 });
    reports.push(await apply(deps, url, read, options.newScore));
  }
  return { origin, sitemaps: reports };
}

/** By robots.txt; `null`: the signal came before it could be asked. */
async function sitemapsNamed(
  deps: SitemapDeps,
  origin: string,
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | null> {
  const url = `${origin}/`;
  const host = hostOf(url);
  try {
    return await deps.network.lanes.run(
      host,
      async (turn) => {
        const { verdict, isFetched } = await askRobots(
          { ...deps.network, clock: deps.clock },
          url,
          host,
          delayMs,
          turn,
        );
        if (!isFetched) turn.spare();
        const restUntil = restAsked(verdict, deps.clock);
        if (restUntil !== null) await noteRest(deps.db, host, restUntil);
        return verdict.sitemaps;
      },
      signal,
    );
  } catch (error) {
    if (signal?.aborted && error === signal.reason) return null;
    throw error;
  }
}

const NOTHING: Omit<SitemapReport, 'sitemap'> = {
  error: null,
  kind: null,
  urls: 0,
  added: 0,
  hinted: 0,
  filtered: 0,
  datesIgnored: false,
  faults: 0,
};

/** Redirects of one file that are followed: `/sitemap.xml` often leads to another name. */
const MAX_REDIRECTS = 5;

/** The sitemap, or what went wrong. Each address of a chain of redirects is asked by the rules of its own host. */
async function fetchSitemap(
  deps: SitemapDeps,
  url: string,
  options: SitemapOptions,
  signal: AbortSignal | undefined,
): Promise<ReadSitemap | string> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await askOnce(deps, at, options, signal);
    if (typeof answer !== 'object' || !('movedTo' in answer)) return answer;
    at = answer.movedTo;
  }
  return `more than ${MAX_REDIRECTS} redirects`;
}

async function askOnce(
  deps: SitemapDeps,
  url: string,
  options: SitemapOptions,
  signal: AbortSignal | undefined,
): Promise<ReadSitemap | { readonly movedTo: string } | string> {
  const protocol = deps.network.protocols.get(url.slice(0, Math.max(0, url.indexOf(':'))));
  if (protocol === undefined) return 'no protocol plugin serves its scheme';
  try {
    const host = hostOf(url);
    const refusal = deps.network.refusal(host) ?? (await restReason(deps, host));
    if (refusal !== null) return refusal;
    const answer = await deps.network.lanes.run(
      host,
      async (turn) => {
        const { verdict } = await verdictInTurn(
          { ...deps.network, clock: deps.clock },
          { url, host },
          options.delayMs,
          turn,
        );
        const restUntil = restAsked(verdict, deps.clock);
        if (restUntil !== null) return noteRest(deps.db, host, restUntil);
        if (!verdict.allowed) return `robots.txt does not allow it (${verdict.code ?? 'robots-denied'})`;
        return protocol.exchange({
          url,
          method: 'GET',
          headers: {},
          maxBodyBytes: options.maxBytes,
          timeoutMs: options.timeoutMs,
          ...(signal === undefined ? {} : { signal }),
        });
      },
      signal,
    );
    if (typeof answer === 'string') return answer;
    const { head, body } = answer;
    await keepRest(deps, host, head, options.patienceMs);
    const target = head.status >= 300 && head.status < 400 ? head.headers.location : undefined;
    if (target !== undefined) {
      const moved = canonicalUrl(target, url);
      return 'error' in moved ? `redirect to what is no URL: ${moved.error}` : { movedTo: moved.url };
    }
    // Only a success is a sitemap; the body of an error page is none.
    return body === null || head.status !== 200 ? `status ${head.status}` : deps.parse(body, url);
  } catch (error) {
    if (error instanceof CrawlError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** Where the answer asks for patience: a short rest is waited for by whatever is asked next, a long one is noted. */
async function keepRest(deps: SitemapDeps, host: string, head: ResponseHead, patienceMs: number): Promise<void> {
  const now = deps.clock.now();
  const until = restAskedFor(head, now, patienceMs);
  if (until === null) return;
  if (until - now > patienceMs) await noteRest(deps.db, host, until);
  else deps.network.lanes.pauseUntil(host, until);
}

async function apply(deps: SitemapDeps, sitemap: string, read: ReadSitemap, score: number): Promise<SitemapReport> {
  const now = deps.clock.now();
  const intervalMs = deps.policy.schedule.initialIntervalMs;
  const entries = new Map<string, number | null>();
  let filtered = 0;
  for (const { loc, lastmod } of read.urls) {
    const { url } = deps.urls.apply(loc, { from: sitemap, depth: 1, seedHosts: deps.seedHosts });
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
    const window = urls.slice(start, start + WINDOW);
    const known = await deps.seen.probe(window);
    const fresh = window.filter((_, i) => known[i] !== true);
    const puts: CrawlDbPut[] = fresh.map((url) => {
      return { datum: newDatum({ url, now, intervalMs, referrer: sitemap, depth: 1, score }), previous: null };
    });
    added += fresh.length;
    const dated = datesIgnored ? [] : window.filter((url, i) => known[i] === true && entries.get(url) !== null);
    const hints = await hintsOf(deps, dated, entries, now);
    hinted += hints.length;
    if (puts.length + hints.length > 0) await deps.db.write({ puts: [...puts, ...hints] });
    deps.seen.add(fresh);
  }
  // Listed URLs are no orphans, though no page may link to them.
  if (urls.length > 0) await deps.db.write({ links: [{ url: sitemap, targets: urls }] });
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
  };
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
