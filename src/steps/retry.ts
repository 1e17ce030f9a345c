import type { CrawlDatum, CrawlState } from '../domain/crawl/states/datum.ts';
import { type SettlePolicy, settle } from '../domain/crawl/states/settle.ts';
import { reasonOfCode, type SkipReason } from '../domain/crawl/states/skip-reasons.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';

/** Conditions narrow each other down. */
export interface RetryQuery {
  /** Without it: those whose last visit failed or was refused, and those that are gone. */
  readonly state?: CrawlState;
  readonly reasons?: readonly SkipReason[];
  readonly host?: string;
  readonly limit?: number;
  readonly dryRun?: boolean;
}

export interface RetrySummary {
  readonly matched: number;
  /** Due at once by this. */
  readonly broughtForward: number;
  /** Due already, or in a segment at this moment. */
  readonly unmoved: number;
  /** Of those that match; `none`: nothing speaks against them. */
  readonly byReason: Readonly<Record<string, number>>;
  readonly dryRun: boolean;
}

/** Records written per batch. */
const WINDOW = 1_000;

/**
 * Makes URLs due at once that failed, were refused or are gone. Failures so far still count: one that fails again waits
 * longer than before. URLs in a segment are left to their visit.
 */
export async function retry(
  { db, policy, now }: { readonly db: CrawlDb; readonly policy: SettlePolicy; readonly now: number },
  query: RetryQuery,
  onUrl: (url: string, reason: SkipReason | null) => void = () => {},
): Promise<RetrySummary> {
  const { dryRun = false, limit = Number.POSITIVE_INFINITY } = query;
  const byReason: Record<string, number> = {};
  const sum = { matched: 0, broughtForward: 0, unmoved: 0 };
  let window: CrawlDatum[] = [];
  const flush = async (): Promise<void> => {
    const leases = await db.leases(window.map(({ url }) => url));
    const puts: CrawlDbPut[] = [];
    for (const [i, previous] of window.entries()) {
      const { datum } = settle(previous, { kind: 'touched', at: now }, policy, now);
      if (leases[i] !== undefined || datum === previous) sum.unmoved++;
      else puts.push({ datum, previous });
    }
    sum.broughtForward += puts.length;
    window = [];
    if (puts.length > 0 && !dryRun) await db.write({ puts }, { durable: true });
  };
  for await (const datum of candidates(db, query)) {
    const reason = reasonFor(datum);
    if (query.reasons !== undefined && (reason === null || !query.reasons.includes(reason))) continue;
    if (sum.matched >= limit) break;
    sum.matched++;
    byReason[reason ?? 'none'] = (byReason[reason ?? 'none'] ?? 0) + 1;
    onUrl(datum.url, reason);
    window.push(datum);
    if (window.length >= WINDOW) await flush();
  }
  await flush();
  return { ...sum, byReason, dryRun };
}

/** Why the last visit brought no page; `null` when it did, or when there was none. */
export function reasonFor({ lastError, state }: CrawlDatum): SkipReason | null {
  if (lastError !== null) return reasonOfCode(lastError.code);
  return state === 'gone' ? 'gone' : null;
}

/** What may match, from an index where one serves: refusals have none, so that asking for those reads all records. */
async function* candidates(db: CrawlDb, { state, host, reasons }: RetryQuery): AsyncGenerator<CrawlDatum> {
  const where = host === undefined ? {} : { host };
  const only = state ?? stateOf(reasons);
  if (only !== undefined) {
    yield* db.scan({ ...where, state: only });
    return;
  }
  for await (const datum of db.scan(where)) {
    if (reasonFor(datum) !== null && datum.state !== 'orphan') yield datum;
  }
}

/** The state in which all records with these reasons are. */
function stateOf(reasons: RetryQuery['reasons']): CrawlState | undefined {
  if (reasons === undefined || reasons.length === 0) return undefined;
  return reasons.every((reason) => reason === 'gone') ? 'gone' : undefined;
}
