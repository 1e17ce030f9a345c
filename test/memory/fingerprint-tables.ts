import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { type RepeatScope, signedText } from '../../src/core/domain/crawl/states/duplicate.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import type { FingerprintTables, NearAnswer, NearFound, NearQuestion } from '../../src/core/ports/near.ts';
import { hammingDistance, MAX_EXACT_DISTANCE } from '../../src/page/near/fingerprint-tables.ts';

export interface MemoryFingerprintTablesOptions {
  readonly db: CrawlDb;
  readonly scope: RepeatScope;
  readonly minChars: number;
  readonly scopeOf: (url: string) => string;
}

/** The reference: nothing is stored, each query compares with every record. */
export function createMemoryFingerprintTables(options: MemoryFingerprintTablesOptions): FingerprintTables {
  const { db, scope, minChars, scopeOf } = options;
  return {
    scope,
    minChars,
    near: async (questions) => {
      const records: CrawlDatum[] = [];
      for await (const datum of db.scan()) records.push(datum);
      return questions.map((question) => nearIn(records, question, minChars, scopeOf));
    },
    async *duplicatesOf(url, limit = Number.POSITIVE_INFINITY) {
      let left = limit;
      for await (const datum of db.scan({ state: 'duplicate' })) {
        if (datum.target === url && left-- > 0) yield datum.url;
      }
    },
  };
}

function nearIn(
  records: readonly CrawlDatum[],
  { url, signature, signatureName, distance }: NearQuestion,
  minChars: number,
  scopeOf: (url: string) => string,
): NearAnswer {
  if (distance > MAX_EXACT_DISTANCE) {
    throw new RangeError(`a distance of at most ${MAX_EXACT_DISTANCE} bits was expected, got ${distance}`);
  }
  const scope = scopeOf(url);
  const pages = records.flatMap((datum): NearFound[] => {
    const signed = signedText(datum, minChars);
    if (signed === null || datum.url === url || signed.signatureName !== signatureName) return [];
    const own = hammingDistance(signed.signature, signature);
    if (own > distance || scopeOf(datum.url) !== scope) return [];
    const { textChars } = signed;
    return [{ url: datum.url, distance: own, textChars, isDuplicate: datum.state === 'duplicate' }];
  });
  pages.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1));
  return { pages, complete: true };
}
