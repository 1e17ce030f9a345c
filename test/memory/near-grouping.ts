import { nearGroups } from '../../src/core/domain/crawl/near/group-rows.ts';
import { isAlikeInLength, isCopyOf } from '../../src/core/domain/crawl/states/duplicate.ts';
import type { GroupedPage, NearGrouping, NearGroupingOptions, NearGroups, Repeat } from '../../src/core/ports/near.ts';
import { parseFingerprint } from '../../src/page/near/fingerprint-tables.ts';

/** The reference: all pages in memory, compared one after the other. */
export function createMemoryNearGrouping({ distance, minOverlap, prefer, isBatch }: NearGroupingOptions): NearGrouping {
  const isMatch = (page: GroupedPage, leader: GroupedPage): boolean =>
    page.scope === leader.scope &&
    isAlikeInLength(page.textChars, leader.textChars) &&
    isCopyOf(page, leader, minOverlap);
  const pages: GroupedPage[] = [];
  const before = {
    score: (a, b) => b.score - a.score,
    https: (a, b) => Number(b.url.startsWith('https:')) - Number(a.url.startsWith('https:')),
    shortest: (a, b) => a.url.length - b.url.length,
    oldest: (a, b) => a.discoveredAt - b.discoveredAt,
  } satisfies Record<NearGroupingOptions['prefer'][number], (a: GroupedPage, b: GroupedPage) => number>;

  function inOrder(): number[] {
    return [...pages.keys()].sort((i, j) => {
      const [a, b] = [pages[i]!, pages[j]!];
      const incoming = Number(b.isIncoming) - Number(a.isIncoming);
      return incoming || prefer.reduce((order, name) => order || before[name](a, b), 0) || i - j;
    });
  }

  return {
    add: (page) => {
      pages.push(page);
      return undefined;
    },
    group: async (): Promise<NearGroups> => {
      const found = nearGroups(inOrder(), (page) => parseFingerprint(pages[page]!.signature), {
        distance,
        mayRepeat: (page, leader) => isMatch(pages[page]!, pages[leader]!),
        leads: (page) => !isBatch || pages[page]!.isIncoming,
      });
      async function* repeats(): AsyncGenerator<Repeat> {
        for (const number of [...found.keys()].sort((a, b) => a - b)) {
          const { id, distance: apart } = found.get(number)!;
          yield { number, of: pages[id]!.url, distance: apart };
        }
      }
      return { groups: new Set([...found.values()].map(({ id }) => id)).size, repeats: repeats() };
    },
    close: async () => {
      pages.length = 0;
    },
  };
}
