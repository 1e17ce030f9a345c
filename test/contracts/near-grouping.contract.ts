import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlikeInLength, PREFERENCES } from '../../src/core/domain/crawl/states/duplicate.ts';
import type { GroupedPage, NearGrouping, NearGroupingOptions, Repeat } from '../../src/core/ports/near.ts';
import { hammingDistance } from '../../src/page/near/fingerprint-tables.ts';
import { createTextSketcher } from '../../src/page/near/page-dimensions.ts';
import { createMemoryNearGrouping } from '../memory/near-grouping.ts';

const A = 'fd851af90bc24962';
const ONE_FLIP = '7d851af90bc24962';
const THREE_FLIPS = '7d859af98bc24962';
const FOUR_FLIPS = '7d859af98bc2c962';
const FAR = '027ae506f43db69d';
const OPTIONS: NearGroupingOptions = { distance: 3, minOverlap: 0, prefer: PREFERENCES, isBatch: false };

export const groupedPage = (change: Partial<GroupedPage> = {}): GroupedPage => ({
  url: 'https://a.org/',
  signature: A,
  scope: '',
  textChars: 1_000,
  sketch: null,
  isHub: false,
  score: 1,
  discoveredAt: 0,
  isIncoming: true,
  ...change,
});

export interface GroupsFound {
  readonly groups: number;
  readonly repeats: readonly Repeat[];
}

/** All results of a grouping. */
export async function groupsOf(grouping: NearGrouping, pages: Iterable<GroupedPage>): Promise<GroupsFound> {
  for (const page of pages) await grouping.add(page);
  const { groups, repeats } = await grouping.group();
  const found: Repeat[] = [];
  for await (const repeat of repeats) found.push(repeat);
  return { groups, repeats: found };
}

const sketchText = createTextSketcher();
const words = Array.from({ length: 400 }, (_, i) => `w${i}`);
const sketchOf = (changed: number): string | null =>
  sketchText({
    mainText: [...words.slice(changed), ...words.slice(0, changed / 2)].join(' '),
    text: '',
  });
/** The same text, a near copy, a copy that lacks an eighth, and a text without a sketch. */
const SKETCHES = [sketchOf(0), sketchOf(10), sketchOf(50), null];

/** Pages about few centres, so that groups, near misses and equal ones are common. */
const somePages: fc.Arbitrary<GroupedPage[]> = fc
  .array(
    fc.record({
      centre: fc.constantFrom(A, FAR),
      flips: fc.array(fc.nat(63), { maxLength: 4 }),
      scope: fc.constantFrom('a', 'b'),
      textChars: fc.constantFrom(0, 800, 1_000, 1_251),
      score: fc.constantFrom(1, 2),
      discoveredAt: fc.constantFrom(0, 1_800_000_000_000),
      isIncoming: fc.boolean(),
      isHub: fc.boolean(),
      sketch: fc.constantFrom(...SKETCHES),
      host: fc.constantFrom('a.org', 'b.org'),
      isHttps: fc.boolean(),
      path: fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 2 }),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    all.map(({ centre, flips, isHttps, host, path, ...rest }, i) => {
      let value = BigInt(`0x${centre}`);
      for (const bit of flips) value ^= 1n << BigInt(bit);
      return {
        ...rest,
        url: `${isHttps ? 'https' : 'http'}://${host}/${i < 4 ? '' : `${i}/${path}`}`,
        signature: value.toString(16).padStart(16, '0'),
      };
    }),
  );

/** The exam of every adapter of the port. */
export function nearGroupingContract(
  name: string,
  open: (options: NearGroupingOptions) => NearGrouping | Promise<NearGrouping>,
): void {
  describe(`${name}: groups of near pages`, () => {
    let grouping: NearGrouping | null = null;
    afterEach(() => grouping?.close());
    const found = async (pages: Iterable<GroupedPage>, options: Partial<NearGroupingOptions> = {}) => {
      grouping = await open({ ...OPTIONS, ...options });
      return groupsOf(grouping, pages);
    };
    const signed = (...signatures: readonly string[]): GroupedPage[] =>
      signatures.map((signature, i) => groupedPage({ signature, url: `https://a.org/${i}` }));

    it('no pages give no groups', async () => {
      expect(await found([])).toEqual({ groups: 0, repeats: [] });
    });

    it('three bits are near, four are not', async () => {
      expect(await found(signed(A, FOUR_FLIPS, THREE_FLIPS, FAR))).toEqual({
        groups: 1,
        repeats: [{ number: 2, of: 'https://a.org/1', distance: 1 }],
      });
      expect(await found(signed(A, ONE_FLIP), { distance: 0 })).toEqual({ groups: 0, repeats: [] });
    });

    it.each([
      ['score', { score: 2 }],
      ['https', { url: 'https://a.org/longer' }],
      ['shortest', { url: 'http://a.org' }],
      ['oldest', { discoveredAt: -1 }],
    ] as const)('prefers by %s, and else who came first', async (criterion, better) => {
      const pages = [
        groupedPage({ url: 'http://a.org/first' }),
        groupedPage({ url: 'http://a.org/other' }),
        groupedPage({ url: 'http://a.org/third', ...better }),
      ];
      const by = await found(pages, { prefer: [criterion] });
      expect(by.repeats.map(({ number, of }) => [number, of])).toEqual([0, 1].map((n) => [n, pages[2]!.url]));
      const without = await found(pages, { prefer: [] });
      expect(without.repeats.map(({ number, of }) => [number, of])).toEqual([1, 2].map((n) => [n, pages[0]!.url]));
    });

    it('pages of different scopes are never compared, and hide no near pages within a scope', async () => {
      const pages = signed(A, A, A, ONE_FLIP).map((page, i) => ({ ...page, scope: i % 2 === 0 ? 'a' : 'b' }));
      expect((await found(pages)).repeats).toEqual([
        { number: 2, of: 'https://a.org/0', distance: 0 },
        { number: 3, of: 'https://a.org/1', distance: 1 },
      ]);
    });

    it('texts of very different lengths never repeat each other, whatever their signatures, and hide no near pages', async () => {
      const pages = signed(A, A, A, ONE_FLIP, A).map((page, i) => ({
        ...page,
        textChars: [1_000, 799, 800, 600, 1_251][i]!,
      }));
      expect((await found(pages)).repeats).toEqual([{ number: 2, of: 'https://a.org/0', distance: 0 }]);
      const [first, second] = signed(A, ONE_FLIP);
      expect(
        (
          await found([
            { ...first!, textChars: 600 },
            { ...second!, textChars: 750 },
          ])
        ).groups,
      ).toBe(1);
    });

    it('the published example: a batch of one against a library of four', async () => {
      const [batch, ...library] = signed(A, A, THREE_FLIPS, FOUR_FLIPS, FAR);
      const pages = [...library.map((page) => ({ ...page, isIncoming: false, score: 9 })), batch!];
      expect((await found(pages, { isBatch: true })).repeats).toEqual([
        { number: 0, of: 'https://a.org/0', distance: 0 },
        { number: 1, of: 'https://a.org/0', distance: 3 },
      ]);
    });

    it('near signatures are copies where their texts are, and start pages and hubs are none', async () => {
      const page = (path: string, change: Partial<GroupedPage> = {}): GroupedPage =>
        groupedPage({ url: `https://${path}`, sketch: SKETCHES[0]!, ...change });
      const repeating = async (...pages: GroupedPage[]): Promise<string[]> => {
        await grouping?.close();
        return (await found(pages, { minOverlap: 0.9, prefer: [] })).repeats.map(({ number }) => pages[number]!.url);
      };
      const [first, start] = [page('a.org/1'), page('a.org/')];
      expect(await repeating(first, page('a.org/2'))).toEqual(['https://a.org/2']);
      expect(await repeating(first, page('a.org/2', { sketch: SKETCHES[2]! }))).toEqual([]);
      // The shorter text is in the longer: another site prints it without its end.
      expect(await repeating(first, page('b.org/2', { sketch: SKETCHES[2]! }))).toEqual(['https://b.org/2']);
      expect(await repeating(first, page('a.org/2', { sketch: null }))).toEqual([]);
      expect(await repeating(first, page('a.org/2', { isHub: true }), start)).toEqual([]);
      expect(await repeating(start, first, page('b.org/'))).toEqual(['https://a.org/1', 'https://b.org/']);
    });

    it('finds the same as pairwise comparison and as the reference, whatever the pages', async () => {
      await fc.assert(
        fc.asyncProperty(
          somePages,
          fc.integer({ min: 0, max: 3 }),
          fc.boolean(),
          fc.shuffledSubarray([...PREFERENCES]),
          fc.constantFrom(0, 0.9),
          async (all, distance, isBatch, prefer, minOverlap) => {
            const pages = all.filter(({ url }, i) => all.findIndex((page) => page.url === url) === i);
            const options = { distance, minOverlap, isBatch, prefer };
            const own = await found(pages, options);
            await grouping?.close();
            expect(own).toEqual(await groupsOf(createMemoryNearGrouping(options), pages));
            const leaders = new Set([...pages.keys()]);
            for (const { number } of own.repeats) leaders.delete(number);
            for (const { number, of, distance: bits } of own.repeats) {
              const target = pages.findIndex(({ url }) => url === of);
              expect(leaders.has(target)).toBe(true);
              expect(pages[target]!.scope).toBe(pages[number]!.scope);
              expect(isAlikeInLength(pages[target]!.textChars, pages[number]!.textChars)).toBe(true);
              expect(hammingDistance(pages[target]!.signature, pages[number]!.signature)).toBe(bits);
              if (minOverlap > 0) continue;
              const nearest = [...leaders].filter(
                (each) =>
                  pages[each]!.scope === pages[number]!.scope &&
                  isAlikeInLength(pages[each]!.textChars, pages[number]!.textChars) &&
                  (!isBatch || pages[each]!.isIncoming) &&
                  hammingDistance(pages[each]!.signature, pages[number]!.signature) < bits,
              );
              // A nearer representative can only be one that is less preferred, and was found later.
              for (const each of nearest) expect(own.repeats.some((repeat) => repeat.number === each)).toBe(false);
            }
          },
        ),
        { numRuns: 40 },
      );
    });
  });
}
