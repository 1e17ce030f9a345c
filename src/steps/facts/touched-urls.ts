import { dueFacts } from '../../domain/crawl/revisit/due.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';

/** Name of the fact that holds the URLs whose next visit somebody has asked for. */
const TOUCHED = 'pushedUrls';

/** Further ones are due at once, but wait their turn: an operator's push is for few pages. */
const MAX_TOUCHED = 10_000;

/** Share of a round that pushed pages may take, so that they cannot starve the rest. */
export const TOUCHED_SHARE = 0.5;

async function touchedUrls(db: CrawlDb): Promise<string[]> {
  return JSON.parse((await db.meta(TOUCHED)) ?? '[]') as string[];
}

/** The fact after more URLs were pushed. */
export async function rememberTouched(db: CrawlDb, urls: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const all = [...new Set([...(await touchedUrls(db)), ...urls])].slice(0, MAX_TOUCHED);
  return { [TOUCHED]: JSON.stringify(all) };
}

/** Pushed pages that are due and in no segment, in the order in which they were pushed. */
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

/** The fact after a round has taken some; what is no longer due is forgotten. Empty where nothing was pushed. */
export function touchedLeft(
  entries: readonly DueEntry[],
  taken: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  return { [TOUCHED]: JSON.stringify(entries.map(({ url }) => url).filter((url) => !taken.has(url))) };
}
