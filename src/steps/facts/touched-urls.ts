import { dueFacts } from '../../domain/crawl/revisit/due.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';

/** Fact in the crawl db: the URLs that `incrawl touch` has made due. The name is part of the format. */
const TOUCHED = 'pushedUrls';

/** URLs remembered, at most; further ones are due at once, but do not go ahead of others. */
const MAX_TOUCHED = 10_000;

/** Share of a round that touched URLs may take, so that they cannot starve the others. */
export const TOUCHED_SHARE = 0.5;

async function touchedUrls(db: CrawlDb): Promise<string[]> {
  return JSON.parse((await db.meta(TOUCHED)) ?? '[]') as string[];
}

/** The fact after more URLs were touched. */
export async function rememberTouched(db: CrawlDb, urls: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const all = [...new Set([...(await touchedUrls(db)), ...urls])].slice(0, MAX_TOUCHED);
  return { [TOUCHED]: JSON.stringify(all) };
}

/** Touched URLs that are due and in no segment, in the order in which they were touched. */
export async function touchedEntries(db: CrawlDb, until: number): Promise<DueEntry[]> {
  const urls = await touchedUrls(db);
  if (urls.length === 0) return [];
  const [records, leases] = [await db.getMany(urls), await db.leases(urls)];
  return records.flatMap((datum, i): DueEntry[] => {
    const dueAt = datum?.nextFetchAt ?? null;
    return datum === undefined || dueAt === null || dueAt > until || leases[i] !== undefined
      ? []
      : [{ ...dueFacts(datum), dueAt }];
  });
}

/** The fact after a round has taken some of the entries; URLs that are no longer due are forgotten. */
export function touchedLeft(
  entries: readonly DueEntry[],
  taken: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  return { [TOUCHED]: JSON.stringify(entries.map(({ url }) => url).filter((url) => !taken.has(url))) };
}
