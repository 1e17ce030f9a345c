import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { PartitionBy } from '../../core/domain/url/hash/partition.ts';
import type { FingerprintTables, NearAnswer } from '../../core/ports/near.ts';

/**
 * The tables of signatures of all partitions as one. If all pages of the scope are in one partition, as those of a host
 * always are, only that one is queried, otherwise all are.
 * @param by the unit that lies in one partition as a whole
 * @param partitionOf the partition of a host
 */
export function spreadTables(
  tables: ReadonlyMap<number, FingerprintTables>,
  by: PartitionBy,
  partitionOf: (host: string) => number,
): FingerprintTables | null {
  const [any] = tables.values();
  if (any === undefined) return null;
  const { scope, minChars } = any;
  const of = (url: string): readonly FingerprintTables[] => {
    const own = tables.get(partitionOf(hostOf(url)));
    return scope === 'all' || (scope === 'domain' && by === 'host')
      ? [...tables.values()]
      : own === undefined
        ? []
        : [own];
  };
  return {
    scope,
    minChars,
    async near(questions) {
      return Promise.all(
        questions.map(async (question): Promise<NearAnswer> => {
          const answers = (await Promise.all(of(question.url).map((each) => each.near([question])))).flat();
          const pages = answers.flatMap((answer) => answer.pages);
          pages.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1));
          return { pages, complete: answers.every(({ complete }) => complete) };
        }),
      );
    },
    async *duplicatesOf(url, limit = Number.POSITIVE_INFINITY) {
      let left = limit;
      for (const each of of(url)) {
        if (left <= 0) return;
        for await (const duplicate of each.duplicatesOf(url, left)) {
          left--;
          yield duplicate;
        }
      }
    },
  };
}
