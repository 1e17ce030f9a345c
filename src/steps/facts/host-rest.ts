import type { Clock } from '../../ports/clock.ts';
import { type CrawlDb, NO_HOST_FACTS } from '../../ports/crawl-db.ts';

/** Why no request is sent to a host now: it has asked for a pause (Retry-After). `null`: it may be asked. */
export async function restReason(
  { db, clock }: { readonly db: Pick<CrawlDb, 'hostRows'>; readonly clock: Clock },
  host: string,
): Promise<string | null> {
  const [row] = await db.hostRows([host]);
  const restUntil = row?.facts.restUntil ?? null;
  return restUntil === null || restUntil <= clock.now() ? null : reasonUntil(restUntil);
}

/**
 * Until when hosts have asked to be left alone, ms since the epoch; those that have not are left out. A fetch list has
 * this as of the time at which it was made: a sitemap or a robots.txt may have said so since.
 */
export async function restsOf(
  db: Pick<CrawlDb, 'hostRows'>,
  hosts: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  const rests = new Map<string, number>();
  for (const row of await db.hostRows(hosts)) {
    const restUntil = row?.facts.restUntil ?? 0;
    if (row !== undefined && restUntil > now) rests.set(row.host, restUntil);
  }
  return rests;
}

/** Stores with a host that it has asked for a pause. Resolves with the reason, as {@link restReason} gives it. */
export async function noteRest(
  db: Pick<CrawlDb, 'hostRows' | 'write'>,
  host: string,
  restUntil: number,
): Promise<string> {
  const [row] = await db.hostRows([host]);
  const facts = row?.facts ?? NO_HOST_FACTS;
  const latest = Math.max(facts.restUntil ?? 0, restUntil);
  await db.write({ hostFacts: [{ host, facts: { ...facts, restUntil: latest } }] });
  return reasonUntil(restUntil);
}

const reasonUntil = (restUntil: number): string =>
  `the host asked for a pause until ${new Date(restUntil).toISOString()}`;
