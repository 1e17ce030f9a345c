import type { CrawlDatum, CrawlState } from '../../core/domain/crawl/states/datum.ts';
import { type RepeatScope, signedText } from '../../core/domain/crawl/states/duplicate.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb, ScanQuery } from '../../core/ports/crawl-db.ts';
import type { FingerprintTables } from '../../core/ports/near.ts';
import { hammingDistance, MAX_EXACT_DISTANCE, parseFingerprint } from '../../page/near/fingerprint-tables.ts';
import { textOverlap } from '../../page/near/page-dimensions.ts';

export interface NearPage {
  readonly url: string;
  /** Bits. */
  readonly distance: number;
  /** Estimated share of the text that both have in common, 0..1; `null`: unknown. */
  readonly overlap: number | null;
  readonly state: CrawlState;
  readonly title: string | null;
}

export interface NearOptions {
  /** Bits, 0 to 64. */
  readonly distance: number;
  readonly limit: number;
  readonly scope: RepeatScope;
}

export interface NearDeps {
  readonly db: CrawlDb;
  /** Tables of signatures; `null` where none are kept. */
  readonly tables: FingerprintTables | null;
  readonly domainOf: (host: string) => string;
}

/**
 * Pages whose signatures are near that of a page, nearest first. The tables answer up to three bits within their scope.
 * For larger distances, and for pages not in the tables, every record of the scope is read. `null`: the page is not in
 * the crawl db, or has no signature.
 */
export async function nearPages(deps: NearDeps, url: string, options: NearOptions): Promise<NearPage[] | null> {
  const { db } = deps;
  const own = await db.get(url);
  if (own === undefined || own.signature === null) return null;
  parseFingerprint(own.signature);
  const found = (await byTables(deps, own, options)) ?? (await byReading(deps, own, own.signature, options));
  return found.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1)).slice(0, options.limit);
}

async function byTables({ db, tables }: NearDeps, own: CrawlDatum, options: NearOptions): Promise<NearPage[] | null> {
  const { distance, scope } = options;
  if (tables === null || tables.scope !== scope || distance > MAX_EXACT_DISTANCE) return null;
  const text = signedText(own, tables.minChars);
  if (text === null) return null;
  const [answer] = await tables.near([{ ...text, url: own.url, distance }]);
  if (answer === undefined || !answer.complete) return null;
  const records = await db.getMany(answer.pages.map((page) => page.url));
  return answer.pages.flatMap(({ distance: apart }, i): NearPage[] => {
    const datum = records[i];
    return datum === undefined ? [] : [nearPage(own, datum, apart)];
  });
}

async function byReading(
  { db, domainOf }: NearDeps,
  own: CrawlDatum,
  signature: string,
  { distance, scope }: NearOptions,
): Promise<NearPage[]> {
  const host = hostOf(own.url);
  const query: ScanQuery = scope === 'host' ? { host } : scope === 'domain' ? { domain: domainOf(host) } : {};
  const found: NearPage[] = [];
  for await (const other of db.scan(query)) {
    if (other.signature === null || other.signatureName !== own.signatureName || other.url === own.url) continue;
    const apart = hammingDistance(signature, other.signature);
    if (apart <= distance) found.push(nearPage(own, other, apart));
  }
  return found;
}

function nearPage(own: CrawlDatum, { url, state, title, sketch }: CrawlDatum, distance: number): NearPage {
  const overlap = textOverlap(own.sketch, sketch)?.likeness ?? null;
  return { url, distance, overlap: overlap === null ? null : Math.round(1_000 * overlap) / 1_000, state, title };
}
