import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { QueryEnvironment, QueryField } from '../../domain/query/fields.ts';
import { impliedBy } from '../../domain/query/implied.ts';
import { matcherOf } from '../../domain/query/match.ts';
import { parseExpression } from '../../domain/query/parse.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';

/** Judges due URLs by an expression over their records. */
export interface DueWhere {
  /** Yields all entries, in their order, each after its record was read where that is needed. */
  judged(entries: Iterable<DueEntry> | AsyncIterable<DueEntry>): AsyncGenerator<DueEntry>;
  /** Whether the record of an entry that was yielded matches. */
  isWanted(entry: DueEntry): boolean;
}

/** Records read at a time. */
const READ_WINDOW = 500;

/** Fields that a due entry holds as its record does. */
const OF_ENTRY: ReadonlySet<string> = new Set(['url', 'scheme', 'host', 'domain', 'tld', 'state', 'depth']);
const isOfEntry = (field: QueryField): boolean => OF_ENTRY.has(field.name);

/**
 * An expression over those fields reads no record; one with other conditions beside them reads the records of the
 * entries that meet those.
 * @throws CrawlError `usage-invalid`, with the column of the mistake
 */
export function dueWhere(db: Pick<CrawlDb, 'getMany'>, where: string, env: QueryEnvironment): DueWhere {
  const expression = parseExpression(where, env.now);
  const implied = impliedBy(expression, isOfEntry);
  const ofEntry = implied === null ? () => true : matcherOf(implied, env);
  const ofRecord = implied === expression ? null : matcherOf(expression, env);
  const unwanted = new WeakSet<DueEntry>();
  const judge = async (window: readonly DueEntry[]): Promise<void> => {
    // The condition reads only fields that the entry has.
    const candidates = window.filter((entry) => {
      const mayMatch = ofEntry(entry as Pick<CrawlDatum, 'url' | 'state' | 'depth'> as CrawlDatum);
      if (!mayMatch) unwanted.add(entry);
      return mayMatch;
    });
    if (ofRecord === null || candidates.length === 0) return;
    const records = await db.getMany(candidates.map(({ url }) => url));
    for (const [i, entry] of candidates.entries()) {
      const record = records[i];
      if (record !== undefined && !ofRecord(record)) unwanted.add(entry);
    }
  };
  return {
    async *judged(entries) {
      let window: DueEntry[] = [];
      for await (const entry of entries) {
        window.push(entry);
        if (window.length < READ_WINDOW) continue;
        await judge(window);
        yield* window;
        window = [];
      }
      await judge(window);
      yield* window;
    },
    isWanted: (entry) => !unwanted.has(entry),
  };
}
