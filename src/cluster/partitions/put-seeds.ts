import { type InboxItem, PARCEL_SIZE } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { parseSeedLine } from '../../core/domain/crawl/discovery/seed.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { SeedSource } from '../../core/steps/inject.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { requireContact } from '../../operations/loop/step-settings.ts';
import type { PartitionStores } from './partition-stores.ts';
import { senderKnowing } from './pass-on.ts';

/** Seeds put into inboxes at a time. */
const PAGE = 5_000;

export interface PutSeedsDeps extends Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web'> {
  readonly stores: Pick<PartitionStores, 'partitions' | 'splits' | 'placeOf' | 'inboxOf'>;
}

export interface SentSeeds {
  /** Partitions that got something: seeds, or hosts of seeds. */
  readonly partitions: ReadonlySet<number>;
  readonly urls: number;
  /** Lines that are not a URL, or that a URL filter refuses. */
  readonly refused: number;
}

/**
 * Puts seeds into the inboxes of their partitions. Before them, it puts the hosts of all seeds into every inbox: links
 * are judged by the hosts of the whole crawl. Needs no lease. Bad lines are logged. Rejects with `contact-missing` if a
 * host needs a contact and none is set; earlier seeds may have been sent by then. Resolves with what was sent.
 */
export async function putSeeds(deps: PutSeedsDeps, sources: readonly SeedSource[]): Promise<SentSeeds> {
  const { config, runtime, plugins, web, stores } = deps;
  const sender = senderKnowing('seeds', stores.splits);
  const woken = new Set<number>();
  const known = new Set<string>();
  let number = 0;
  let urls = 0;
  let refused = 0;
  let page = new Map<number, string[]>();
  let hosts: string[] = [];
  let gathered = 0;
  // Smaller than the numbers of the seeds that come with the hosts.
  let hostsNumber = number++;
  const flush = async (): Promise<void> => {
    if (gathered === 0) return;
    const fresh = { number: hostsNumber, item: { seedHosts: hosts } };
    for (let partition = 0; partition < stores.partitions; partition++) {
      const seeds = page.get(partition) ?? [];
      const rows: { readonly number: number; readonly item: InboxItem }[] = hosts.length > 0 ? [fresh] : [];
      for (let from = 0; from < seeds.length; from += PARCEL_SIZE) {
        rows.push({ number: number++, item: { seeds: seeds.slice(from, from + PARCEL_SIZE) } });
      }
      if (rows.length === 0) continue;
      await stores.inboxOf(partition).append(sender, rows);
      woken.add(partition);
    }
    page = new Map();
    hosts = [];
    gathered = 0;
    hostsNumber = number++;
  };
  for (const { name, lines } of sources) {
    let line = 0;
    for await (const text of lines) {
      line++;
      const url = seedUrl(plugins, text, (message) => {
        refused++;
        runtime.log.warn(`${name}:${line}: ${message}`, { text });
      });
      if (url === null) continue;
      urls++;
      const host = hostOf(url);
      requireContact(config.agent.contact, [host], web.isOwnHost);
      if (!known.has(host)) hosts.push(host);
      known.add(host);
      const partition = stores.placeOf(host);
      const seeds = page.get(partition) ?? [];
      seeds.push(text);
      page.set(partition, seeds);
      if (++gathered >= PAGE) await flush();
    }
  }
  await flush();
  web.noteHosts(known);
  return { partitions: woken, urls, refused };
}

/** The URL of a line as it will be stored; `null`: none. */
export function seedUrl(
  { urls }: CrawlDeps['plugins'],
  text: string,
  onError: (message: string) => void,
): string | null {
  const seed = parseSeedLine(text);
  if (seed === null) return null;
  if ('error' in seed) {
    onError(seed.error);
    return null;
  }
  const { url, reason } = urls.apply(seed.url, { from: null, depth: 0, seedHosts: new Set(), scope: 'inject' });
  if (url === null) onError(reason ?? 'refused by a URL filter');
  return url;
}
