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

/** Stores with a host that it has asked for a pause. Resolves with the reason, as {@link restReason} gives it. */
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
