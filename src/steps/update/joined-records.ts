import { CrawlError } from '../../domain/errors.ts';
import type { FetchedRecord, ParsedRecord, Segment } from '../../ports/segment-store.ts';

export interface JoinedRecord {
  readonly fetched: FetchedRecord;
  /** `null` where there was nothing to parse. */
  readonly parsed: ParsedRecord | null;
}

/**
 * Fetched records with their parse output, in the order fetched. Pages are parsed nearly in that order, so few parse
 * outputs are held back while the one of a slow page is still to come. Texts are left out, since updatedb needs none.
 */
export async function* joinParsed(segment: Segment): AsyncGenerator<JoinedRecord> {
  const waiting = new Map<number, ParsedRecord>();
  const parsed = segment.parsed({ texts: false })[Symbol.asyncIterator]();
  try {
    for await (const fetched of segment.fetched()) {
      if (fetched.outcome.kind !== 'success' || !segment.hasParsed(fetched.index)) {
        yield { fetched, parsed: null };
        continue;
      }
      let own = waiting.get(fetched.index);
      while (own === undefined) {
        const next = await parsed.next();
        if (next.done) {
          throw new CrawlError(
            'segment-corrupt',
            `the parse output of ${fetched.url} is missing; parse the segment again (incrawl parse --force)`,
          );
        }
        if (next.value.index === fetched.index) own = next.value;
        else waiting.set(next.value.index, next.value);
      }
      waiting.delete(fetched.index);
      yield { fetched, parsed: own };
    }
  } finally {
    await parsed.return?.();
  }
}

/** The record with its visit at `now` at the latest: a later stamp is of a clock that was ahead, and was set since. */
export function stampedBy(joined: JoinedRecord, now: number): JoinedRecord {
  const { fetched } = joined;
  if (fetched.outcome.at <= now) return joined;
  return { ...joined, fetched: { ...fetched, outcome: { ...fetched.outcome, at: now } } };
}

export interface BatchLimits {
  /** Records to skip before the first batch. */
  readonly from: number;
  /** Records of a batch, at most. */
  readonly records: number;
  /** Outlinks in a batch, beyond which no more records join it. */
  readonly links: number;
}

/** {@link joinParsed} in batches, none of them empty. */
export async function* joinedBatches(segment: Segment, limits: BatchLimits): AsyncGenerator<JoinedRecord[]> {
  let position = 0;
  let batch: JoinedRecord[] = [];
  let links = 0;
  for await (const joined of joinParsed(segment)) {
    if (position++ < limits.from) continue;
    batch.push(joined);
    links += joined.parsed?.outlinks.length ?? 0;
    if (batch.length < limits.records && links < limits.links) continue;
    yield batch;
    batch = [];
    links = 0;
  }
  if (batch.length > 0) yield batch;
}
