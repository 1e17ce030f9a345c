import { parseSitemap } from '../../plugins/parse-feed/sitemap.ts';
import { CrawlError } from '../domain/errors.ts';
import { canonicalUrl } from '../domain/url/canonical-url.ts';
import { hostOf } from '../domain/url/url-key.ts';
import type { CrawlDb } from '../ports/crawl-db.ts';
import type { SeenUrls } from '../ports/seen-urls.ts';
import { type HostSitemaps, readSitemaps } from '../steps/sitemaps.ts';
import { requireContact } from './own-hosts.ts';
import type { Wiring } from './wiring.ts';

interface SitemapStore {
  readonly db: CrawlDb;
  readonly seen: SeenUrls;
  readonly seedHosts: ReadonlySet<string>;
}

const READ_KEY = 'sitemapsReadAt:';

/** Of the named origins, or of the hosts of the seeds. */
export async function sitemapsOf(
  wiring: Wiring,
  store: SitemapStore,
  origins: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<HostSitemaps[]> {
  const { config, isOwnHost } = wiring;
  const asked = origins === undefined ? await seedOrigins(store) : origins.map(originOf);
  requireContact(
    config.agent.contact,
    asked.map((origin) => hostOf(`${origin}/`)),
    isOwnHost,
  );
  const read: HostSitemaps[] = [];
  for (const origin of new Set(asked)) {
    if (signal?.aborted) break;
    read.push(await readOne(wiring, store, origin, signal));
  }
  return read;
}

/** Where they are to be read by themselves, and it is time. */
export async function discoverSitemaps(
  wiring: Wiring,
  store: SitemapStore,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { config, clock, log } = wiring;
  if (config.sitemaps.mode === 'off') return;
  for (const origin of await seedOrigins(store)) {
    if (signal?.aborted) return;
    const last = Number((await store.db.meta(READ_KEY + origin)) ?? Number.NEGATIVE_INFINITY);
    if (clock.now() - last < config.sitemaps.everyMs) continue;
    const { sitemaps } = await readOne(wiring, store, origin, signal);
    const sum = (field: 'urls' | 'added' | 'hinted'): number =>
      sitemaps.reduce((total, each) => total + each[field], 0);
    const counts = { files: sitemaps.length, urls: sum('urls'), added: sum('added'), hinted: sum('hinted') };
    log.info('sitemaps read', { origin, ...counts });
  }
}

async function readOne(
  wiring: Wiring,
  store: SitemapStore,
  origin: string,
  signal: AbortSignal | undefined,
): Promise<HostSitemaps> {
  const { config, policy, plugins } = wiring;
  const { maxFiles, maxBytes } = config.sitemaps;
  const room = {
    ...wiring,
    ...store,
    parse: (body: Uint8Array, url: string) => parseSitemap(body, { url, maxBytes }),
    hostOf,
    initialIntervalMs: policy.schedule.initialIntervalMs,
    newScore: plugins.scoring?.seedScore(`${origin}/`) ?? 1,
  };
  const limits = { delayMs: config.fetch.delayMs, timeoutMs: config.http.timeoutMs, maxFiles, maxBytes };
  const read = await readSitemaps(room, origin, limits, signal);
  await store.db.write({ meta: { [READ_KEY + origin]: String(wiring.clock.now()) } });
  return read;
}

/** A host is known by name only: its pages tell by which scheme it is spoken to. */
async function seedOrigins({ db, seedHosts }: SitemapStore): Promise<string[]> {
  const origins: string[] = [];
  for (const host of seedHosts) {
    for await (const { url } of db.scan({ host, limit: 1 })) origins.push(new URL(url).origin);
  }
  return origins;
}

/** Of a URL, or of a bare host, which is taken to speak https. */
function originOf(text: string): string {
  const canonical = canonicalUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if ('error' in canonical) throw new CrawlError('url-invalid', `${text}: ${canonical.error}`);
  return new URL(canonical.url).origin;
}
