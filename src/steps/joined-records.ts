import { CrawlError } from '../domain/errors.ts';
import type { FetchedRecord, ParsedRecord, Segment } from '../ports/segment-store.ts';

export interface JoinedRecord {
  readonly fetched: FetchedRecord;
  /** `null` where there was nothing to parse. */
  readonly parsed: ParsedRecord | null;
}

/**
 * Fetched records with their parse output, in the order fetched. Pages are parsed nearly in that order, so what has to be held
 * back while a slow page is being waited for stays small. Without their texts, which only readers want.
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
            `the parse output of ${fetched.url} is missing; parse the segment again`,
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
