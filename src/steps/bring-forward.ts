// steps/: the steps of the loop; crawl.ts calls them by name.
import type { CrawlDatum } from '../domain/crawl/states/datum.ts';
import { type SettlePolicy, settle } from '../domain/crawl/states/settle.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';

export interface BringForwardDeps {
  readonly db: CrawlDb;
  readonly policy: SettlePolicy;
}

export interface Requested {
  /** Due at this time, ms since the epoch. */
  readonly at: number;
  /** The command that asks for the visits. */
  readonly by: 'touch' | 'retry';
  readonly dryRun?: boolean;
  /** Facts to write with these records. */
  readonly facts?: (urls: readonly string[]) => Promise<Readonly<Record<string, string>>>;
}

export interface BroughtForward {
  readonly moved: number;
  /** Due by then already, or in a segment at this moment. */
  readonly unmoved: number;
}

/** Records written per batch. */
const WINDOW = 1_000;

/** Brings the next visits of these records forward, never back. Records in a segment are left to their visit. */
export async function bringForward(
  { db, policy }: BringForwardDeps,
  records: AsyncIterable<CrawlDatum>,
  { at, by, dryRun = false, facts }: Requested,
): Promise<BroughtForward> {
  const sum = { moved: 0, unmoved: 0 };
  let window: CrawlDatum[] = [];
  const flush = async (): Promise<void> => {
    const urls = window.map(({ url }) => url);
    const leases = await db.leases(urls);
    const puts: CrawlDbPut[] = [];
    for (const [i, previous] of window.entries()) {
      const { datum } = settle(previous, { kind: 'touched', at, by }, policy, at);
      if (leases[i] !== undefined || datum === previous) sum.unmoved++;
      else puts.push({ datum, previous });
    }
    sum.moved += puts.length;
    window = [];
    const meta = urls.length > 0 && facts !== undefined ? await facts(urls) : {};
    if (!dryRun && (puts.length > 0 || Object.keys(meta).length > 0)) await db.write({ puts, meta }, { durable: true });
  };
  for await (const record of records) if (window.push(record) >= WINDOW) await flush();
  await flush();
  return sum;
}
