// core/steps/fetch/sitemaps/: sitemaps and feeds that name pages and their dates.

import type { FileValidators } from '../../../domain/crawl/discovery/sitemap-hint.ts';
import { conditionalHeaders, validatorsOf } from '../../../domain/crawl/headers/ladder.ts';
import { TurnTooLate } from '../../../domain/crawl/revisit/next-visit.ts';
import { CrawlError, isUnreached } from '../../../domain/errors.ts';
import { canonicalUrl } from '../../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { CrawlDb } from '../../../ports/crawl-db.ts';
import type { FetchProtocol, ResponseHead } from '../../../ports/fetch-protocol.ts';
import type { HostLanes } from '../../../ports/host-lanes.ts';
import type { Robots } from '../../../ports/robots.ts';
import { noteRest, restReason } from '../../facts/host-rest.ts';
import { askRobots, denialBy, pauseByRobots, verdictInTurn } from '../robots-turn.ts';
import { pauseByAnswer } from '../visit-result.ts';

/** A sitemap as the parser reads it. */
export interface ReadSitemap {
  readonly kind: string;
  readonly urls: readonly { readonly loc: string; readonly lastmod: string | null }[];
  readonly sitemaps: readonly { readonly loc: string; readonly lastmod: string | null }[];
  readonly errors: readonly { readonly message: string }[];
}

/** Where the file is as it was at the reading before, all of it is known. */
export interface FetchedSitemap {
  /** `null`: it has not changed. */
  readonly read: ReadSitemap | null;
  readonly validators: FileValidators;
}

/** How requests are sent, and to which hosts. */
export interface SitemapNetwork {
  readonly robots: Robots;
  readonly lanes: HostLanes;
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Why no request may be sent to a host; `null`: it may. */
  readonly refusal: (host: string) => string | null;
}

export interface SitemapFetchDeps {
  readonly db: Pick<CrawlDb, 'hostRows' | 'write'>;
  readonly clock: Clock;
  readonly network: SitemapNetwork;
  readonly parse: (body: Uint8Array, url: string) => ReadSitemap;
}

export interface SitemapFetchOptions {
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** The longest Retry-After that is waited for, ms; a host that asks for more gets no further request. */
  readonly patienceMs: number;
  /** The latest turn of a host that is waited for now, ms since the epoch. */
  readonly latest: () => number;
  /** Of one file, content codings undone. */
  readonly maxBytes: number;
}

/**
 * The sitemaps that robots.txt names; the reason where the turn of the host is too late; `null`: the signal came before
 * the request.
 */
export async function sitemapsNamed(
  deps: SitemapFetchDeps,
  origin: string,
  { delayMs, latest }: Pick<SitemapFetchOptions, 'delayMs' | 'latest'>,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | string | null> {
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
        const restUntil = pauseByRobots(verdict, deps.clock);
        if (restUntil !== null) await noteRest(deps.db, host, restUntil);
        return verdict.sitemaps;
      },
      signal,
      latest,
    );
  } catch (error) {
    if (error instanceof TurnTooLate) return error.message;
    if (signal?.aborted && error === signal.reason) return null;
    throw error;
  }
}

/** Redirects followed for one file: `/sitemap.xml` often leads to another name. */
const MAX_REDIRECTS = 5;

/**
 * The sitemap, or the error as text. Each URL of a chain of redirects is requested by the rules of its own host.
 * @param known the validators of a reading that need not be done again; `null`: the file is read
 */
export async function fetchSitemap(
  deps: SitemapFetchDeps,
  url: string,
  options: SitemapFetchOptions,
  signal: AbortSignal | undefined,
  known: FileValidators | null = null,
): Promise<FetchedSitemap | string> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await request(deps, at, options, signal, known);
    if (typeof answer !== 'object' || !('movedTo' in answer)) return answer;
    at = answer.movedTo;
  }
  return `more than ${MAX_REDIRECTS} redirects`;
}

async function request(
  deps: SitemapFetchDeps,
  url: string,
  options: SitemapFetchOptions,
  signal: AbortSignal | undefined,
  known: FileValidators | null,
): Promise<FetchedSitemap | { readonly movedTo: string } | string> {
  const protocol = deps.network.protocols.get(url.slice(0, Math.max(0, url.indexOf(':'))));
  if (protocol === undefined) return 'no protocol plugin serves the scheme of its URL';
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
        const restUntil = pauseByRobots(verdict, deps.clock);
        if (restUntil !== null) return noteRest(deps.db, host, restUntil);
        if (!verdict.allowed) {
          const { code, message } = denialBy(verdict);
          const wasRequested = !isUnreached(code) && code !== 'address-blocked';
          return wasRequested ? `robots.txt disallows it (${code})` : `${code}: ${message}`;
        }
        return protocol.exchange({
          url,
          method: 'GET',
          headers: known === null ? {} : conditionalHeaders({ ...known, contentLength: null }),
          maxBodyBytes: options.maxBytes,
          timeoutMs: options.timeoutMs,
          ...(signal === undefined ? {} : { signal }),
        });
      },
      signal,
      options.latest,
    );
    if (typeof answer === 'string') return answer;
    const { head, body } = answer;
    await obeyRetryAfter(deps, host, head, options.patienceMs);
    const target = head.status >= 300 && head.status < 400 ? head.headers.location : undefined;
    if (target !== undefined) {
      const moved = canonicalUrl(target, url);
      return 'error' in moved ? `redirect to an invalid URL: ${moved.error}` : { movedTo: moved.url };
    }
    const { etag, lastModified } = validatorsOf(head.headers);
    const validators = { etag, lastModified };
    if (known !== null && head.status === 304) return { read: null, validators: known };
    // The body of an error page is no sitemap.
    if (body === null || head.status !== 200) return `status ${head.status}`;
    return { read: deps.parse(body, url), validators };
  } catch (error) {
    if (error instanceof TurnTooLate) return error.message;
    // As the reading of sitemaps ends here, the crawl can end in order.
    if (signal?.aborted && error === signal.reason) return 'stopped before it was read';
    if (error instanceof CrawlError && error.consequence !== 'stop-crawl') return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** Obeys a Retry-After: a short one pauses the host's lane, a long one is stored with the host. */
async function obeyRetryAfter(
  deps: SitemapFetchDeps,
  host: string,
  head: ResponseHead,
  patienceMs: number,
): Promise<void> {
  const now = deps.clock.now();
  const until = pauseByAnswer(head, now, patienceMs);
  if (until === null) return;
  if (until - now > patienceMs) await noteRest(deps.db, host, until);
  else deps.network.lanes.pauseUntil(host, until);
}
