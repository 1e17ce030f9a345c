import {
  type FileValidators,
  nextReadingAt,
  parseReading,
  readingAfter,
} from '../../core/domain/crawl/discovery/sitemap-hint.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isWithinLast } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { loadSitemapParser } from '../../core/plugin-host/parsing/sitemap-parser.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import { restReason } from '../../core/steps/facts/host-rest.ts';
import { type HostSitemaps, readSitemaps, type SitemapOptions } from '../../core/steps/fetch/sitemaps/read-sitemaps.ts';
import type { ReadmitSummary } from '../../core/steps/summaries.ts';
import type { Way } from '../../core/steps/update/links/shorter-ways.ts';
import type { CrawlDeps, Store } from '../deps.ts';
import { type ReadmitDeps, readmitByName } from './readmitting.ts';
import { PATIENCE_MS } from './segment-steps.ts';
import { requireContact } from './step-settings.ts';

type SitemapDeps = Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'store'>;

type SitemapsInTurn = SitemapOptions['inTurn'];

export const READ_KEY = 'sitemapsReadAt:';

/** The size that sitemaps.org allows, after decompression; the rest is ignored. */
const MAX_BYTES = 50 << 20;

/** Reads the sitemaps of the named origins; default: of the seed hosts. */
async function sitemapsOf(
  deps: SitemapDeps,
  origins: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<HostSitemaps[]> {
  const { config, web } = deps;
  const store = deps.store();
  const asked = origins === undefined ? await seedOrigins(store) : await originsOf(store, origins);
  const hosts = asked.map((origin) => hostOf(`${origin}/`));
  requireContact(config.agent.contact, hosts, web.isOwnHost);
  web.noteHosts(hosts);
  const { clock } = deps.runtime;
  const latest = (): number => clock.now() + config.crawl.hostWaitMs;
  const read = await severalAtOnce([...new Set(asked)], signal, (origin) => readOne(deps, origin, latest, signal));
  return read.filter((each) => each !== undefined);
}

/** Hosts whose sitemaps are read at a time; requests to one host are still sequential. */
const HOSTS_AT_ONCE = 8;

/** Answers in the order of the items; `undefined` for items that had not begun before the signal. */
async function severalAtOnce<Item, Answer>(
  items: readonly Item[],
  signal: AbortSignal | undefined,
  work: (item: Item) => Promise<Answer>,
): Promise<(Answer | undefined)[]> {
  const answers = new Array<Answer | undefined>(items.length).fill(undefined);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !signal?.aborted) {
      const at = next++;
      answers[at] = await work(items[at] as Item);
    }
  };
  await Promise.all(Array.from({ length: HOSTS_AT_ONCE }, worker));
  return answers;
}

/**
 * Reads the sitemaps of the seed hosts that are due, according to `sitemaps.every` and the last outcome, unless
 * `sitemaps.mode` is off. What a host does not serve within `fetch.hostWait` is left to the next reading, because the
 * rounds wait for this one.
 */
export async function discoverSitemaps(
  deps: SitemapDeps,
  signal: AbortSignal | undefined,
  inTurn?: SitemapsInTurn,
): Promise<void> {
  const { config } = deps;
  const { clock, log } = deps.runtime;
  if (config.sitemaps.mode === 'off') return;
  const store = deps.store();
  await severalAtOnce(await seedOrigins(store), signal, async (origin) => {
    const last = parseReading(await store.db.meta(READ_KEY + origin));
    if (last !== null && isWithinLast(nextReadingAt(last, config.sitemaps.everyMs) - last.at, last.at, clock.now()))
      return;
    if ((await restReason({ db: store.db, clock }, hostOf(`${origin}/`))) !== null) return;
    const endAt = clock.now() + config.fetch.hostWaitMs;
    const { sitemaps } = await readOne({ ...deps, inTurn }, origin, () => endAt, signal, last?.files);
    const sum = (field: 'urls' | 'added' | 'hinted'): number =>
      sitemaps.reduce((total, each) => total + each[field], 0);
    const counts = { files: sitemaps.length, urls: sum('urls'), added: sum('added'), hinted: sum('hinted') };
    log.info('sitemaps read', { origin, ...counts });
  });
}

async function readOne(
  { config, runtime, plugins, web, store, inTurn }: SitemapDeps & { readonly inTurn?: SitemapsInTurn | undefined },
  origin: string,
  latest: () => number,
  signal: AbortSignal | undefined,
  known: Readonly<Record<string, FileValidators>> = {},
): Promise<HostSitemaps> {
  const { loaded, urls, policy } = plugins;
  const { clock } = runtime;
  const { db, seen, seedHosts, admission } = store();
  const parseSitemap = await loadSitemapParser();
  const refusal = (host: string): string | null =>
    config.agent.contact !== '' || web.isOwnHost(host)
      ? null
      : `${host} is a public host, and agent.contact is not set`;
  const { robots, lanes, protocols } = web;
  const deps = {
    ...{ db, seen, seedHosts },
    urls,
    clock,
    policy,
    network: { robots, lanes, protocols, refusal },
    parse: (body: Uint8Array, url: string) => parseSitemap(body, { url, maxBytes: MAX_BYTES }),
  };
  const limits = {
    delayMs: config.fetch.delayMs,
    timeoutMs: config.http.timeoutMs,
    patienceMs: PATIENCE_MS,
    latest,
    maxFiles: config.sitemaps.maxFiles,
    maxBytes: MAX_BYTES,
    forwarding: admission.forwarding,
    shorterWays: (found: ReadonlyMap<string, Way>, urls: readonly string[]) => admission.shorterWays(found, urls),
    known,
    inTurn,
    newScore: loaded.scoring?.seedScore(`${origin}/`) ?? 1,
  };
  const read = await readSitemaps(deps, origin, limits, signal);
  // A reading that was cut short by the signal is repeated.
  if (!signal?.aborted) {
    const reading = readingAfter(parseReading(await db.meta(READ_KEY + origin)), read.sitemaps, clock.now());
    await db.write({ meta: { [READ_KEY + origin]: JSON.stringify(reading) } });
  }
  return read;
}

async function seedOrigins({ db, seedHosts }: Store): Promise<string[]> {
  const origins: string[] = [];
  for (const host of seedHosts) {
    const origin = await knownOrigin(db, host);
    if (origin !== null) origins.push(origin);
  }
  return origins;
}

/** A host has the scheme of any of its pages. */
async function knownOrigin(db: CrawlDb, host: string): Promise<string | null> {
  for await (const { url } of db.scan({ host, limit: 1 })) return new URL(url).origin;
  return null;
}

/** Origins of URLs, or of bare hosts; a host without known pages has the scheme https. */
async function originsOf({ db }: Store, texts: readonly string[]): Promise<string[]> {
  const origins: string[] = [];
  for (const text of texts) {
    const isBare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
    const canonical = canonicalUrl(isBare ? `https://${text}` : text);
    if ('error' in canonical) throw new CrawlError('url-invalid', `${text}: ${canonical.error}`);
    const { host, origin } = new URL(canonical.url);
    origins.push((isBare ? await knownOrigin(db, host) : null) ?? origin);
  }
  return origins;
}

/** Discovery of URLs in addition to seeds and the links of fetched pages. */
export interface DiscoveryOperations {
  /**
   * Reads the sitemaps of origins (`https://example.org`) or of hosts; default: the seed hosts. A host has the scheme
   * of its known pages, else https. New URLs are added like outlinks. `lastmod` brings the next visit of known pages
   * forward, as far as the host has earned trust in it.
   */
  sitemaps(origins?: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<HostSitemaps[]>;
  /**
   * Admits links of all stored pages by the present URL rules, without a request. `crawl` and `updatedb` do this
   * themselves after the rules have changed.
   */
  readmitLinks(options?: { readonly signal?: AbortSignal }): Promise<ReadmitSummary>;
}

export function discoveryOperations(deps: SitemapDeps & ReadmitDeps): DiscoveryOperations {
  return {
    async sitemaps(origins, { signal } = {}) {
      const read = await sitemapsOf(deps, origins, signal);
      await deps.store().saveSeenStats();
      return read;
    },
    readmitLinks: (options = {}) => readmitByName(deps, options),
  };
}
