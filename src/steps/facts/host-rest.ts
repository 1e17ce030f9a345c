import type { Clock } from '../../ports/clock.ts';
import { type CrawlDb, NO_HOST_FACTS } from '../../ports/crawl-db.ts';

/** Why a host is asked for nothing just now, where it has asked for a rest (Retry-After). */
export async function restReason(
  { db, clock }: { readonly db: Pick<CrawlDb, 'hostRows'>; readonly clock: Clock },
  host: string,
): Promise<string | null> {
  const [row] = await db.hostRows([host]);
  const restUntil = row?.facts.restUntil ?? null;
  return restUntil === null || restUntil <= clock.now() ? null : reasonUntil(restUntil);
}

/**
 * Writes among the facts of a host that it has asked for a rest; the answer is why it is asked for nothing until then.
 */
export async function noteRest(
  db: Pick<CrawlDb, 'hostRows' | 'write'>,
  host: string,
  restUntil: number,
): Promise<string> {
  const [row] = await db.hostRows([host]);
  await db.write({ hostFacts: [{ host, facts: { ...(row?.facts ?? NO_HOST_FACTS), restUntil } }] });
  return reasonUntil(restUntil);
}

const reasonUntil = (restUntil: number): string =>
  `the host asked for a pause until ${new Date(restUntil).toISOString()}`;
