import { type SettlePolicy, settle } from '../domain/crawl/states/settle.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';
import { rememberTouched } from './facts/touched-urls.ts';

export interface TouchSummary {
  /** Known URLs whose next visit was brought forward. */
  readonly touched: number;
  /** Known URLs that were due by then anyway, or are in a segment at this moment. */
  readonly unmoved: number;
  /** URLs that are not in the crawl db. */
  readonly unknown: readonly string[];
  /** Inputs that are no URL, or are refused, and why. */
  readonly invalid: readonly { readonly url: string; readonly error: string }[];
}

/** Records read at a time. */
const WINDOW = 1_000;

/**
 * Brings the next visit of known URLs forward to `at`; never postpones one. Where `at` is now, they go ahead of all
 * others in the next rounds, up to half of each round. `urls` are canonical.
 */
export async function touch(
  deps: { readonly db: CrawlDb; readonly policy: SettlePolicy; readonly now: number },
  urls: readonly string[],
  at: number,
): Promise<Omit<TouchSummary, 'invalid'>> {
  let touched = 0;
  let unmoved = 0;
  const unknown: string[] = [];
  const distinct = [...new Set(urls)];
  for (let start = 0; start < distinct.length; start += WINDOW) {
    const window = distinct.slice(start, start + WINDOW);
    const records = await deps.db.getMany(window);
    const puts: CrawlDbPut[] = [];
    const known: string[] = [];
    for (const [i, url] of window.entries()) {
      const previous = records[i];
      if (previous === undefined) {
        unknown.push(url);
        continue;
      }
      known.push(url);
      const { datum } = settle(previous, { kind: 'touched', at }, deps.policy, at);
      if (datum === previous) unmoved++;
      else {
        puts.push({ datum, previous });
        touched++;
      }
    }
    const meta = at <= deps.now ? await rememberTouched(deps.db, known) : {};
    if (known.length > 0) await deps.db.write({ puts, meta }, { durable: true });
  }
  return { touched, unmoved, unknown };
}
