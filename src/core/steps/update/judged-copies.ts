import { asDuplicate, asOwnPage, isOwnPage } from '../../domain/crawl/states/duplicate.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import { changesOf } from '../facts/change-feed.ts';

/** A page, the one that it repeats (`null`: none), and the signature by which that was found. */
export type JudgedCopy = readonly [url: string, of: string | null, signature: string | null];

export interface AppliedJudgements {
  readonly marked: number;
  readonly restored: number;
  /** Pages that have changed since, and are left to the next run. */
  readonly changed: number;
}

/** Brings what a run over a whole crawl has found to the records that are there. Applied twice, it changes nothing. */
export async function applyJudged(
  { db, now }: { readonly db: CrawlDb; readonly now: number },
  judged: readonly JudgedCopy[],
): Promise<AppliedJudgements> {
  const records = await db.getMany(judged.map(([url]) => url));
  const puts: CrawlDbPut[] = [];
  let [marked, restored, changed] = [0, 0, 0];
  for (const [i, [, of, signature]] of judged.entries()) {
    const datum = records[i];
    const isMarked = datum?.state === 'duplicate';
    if (datum === undefined || datum.signature !== signature || (!isMarked && !isOwnPage(datum))) changed++;
    else if (of === null && isMarked) restored += puts.push({ datum: asOwnPage(datum), previous: datum }) > 0 ? 1 : 0;
    else if (of !== null && !(isMarked && datum.target === of)) {
      marked += puts.push({ datum: asDuplicate(datum, of), previous: datum }) > 0 ? 1 : 0;
    }
  }
  if (puts.length > 0) await db.write({ puts, ...changesOf(puts, now) }, { durable: true });
  return { marked, restored, changed };
}
