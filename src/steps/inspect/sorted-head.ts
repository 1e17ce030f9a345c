import type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { QueryEnvironment, QueryField } from '../../domain/query/fields.ts';

export interface Order {
  readonly field: QueryField;
  readonly isDescending: boolean;
  readonly env: QueryEnvironment;
}

/** Records that are sorted in memory where the query has no limit. */
const MOST_SORTED = 200_000;

/**
 * The first `limit` records of an order, in memory for twice their number; missing values last, equal ones in the order
 * of `data`. Rejects with `usage-invalid` when there are too many to sort without a limit.
 */
export async function* sortedHead(
  data: AsyncIterable<CrawlDatum>,
  { field, isDescending, env }: Order,
  limit: number,
): AsyncGenerator<CrawlDatum> {
  const best: { datum: CrawlDatum; value: MetadataValue | null; at: number }[] = [];
  const cut = (): void => {
    best.sort((a, b) => compare(a.value, b.value, isDescending) || a.at - b.at);
    if (best.length > limit) best.length = limit;
  };
  let at = 0;
  for await (const datum of data) {
    best.push({ datum, value: field.read(datum, env), at: at++ });
    if (best.length >= 2 * limit + 100) cut();
    else if (limit === Number.POSITIVE_INFINITY && best.length > MOST_SORTED) {
      throw new CrawlError('usage-invalid', `more than ${MOST_SORTED} records to sort: add a limit or conditions`);
    }
  }
  cut();
  for (const { datum } of best) yield datum;
}

/** Numbers before texts, truth values as numbers. */
function compare(a: MetadataValue | null, b: MetadataValue | null, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'string' || typeof b === 'string') {
    const [x, y] = [String(a), String(b)];
    const order = typeof a === typeof b ? Number(x > y) - Number(x < y) : typeof a === 'string' ? 1 : -1;
    return isDescending ? -order : order;
  }
  return isDescending ? Number(b) - Number(a) : Number(a) - Number(b);
}
