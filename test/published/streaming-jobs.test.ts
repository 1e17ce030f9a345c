import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAlikeInLength } from '../../src/core/domain/crawl/states/duplicate.ts';
import { fingerprintDistance, parseFingerprint } from '../../src/page/near/fingerprint-tables.ts';
import { type Cluster, streamed } from './hadoop-streaming.ts';

const A = 'fd851af90bc24962';
const ONE: Cluster = { pieces: 1, reducers: 1, random: () => 0.999 };

/** Signatures that are often equal or near, in a few scopes and lengths. */
const pages = fc
  .array(
    fc.record({
      bits: fc.array(fc.nat(63), { maxLength: 3 }),
      chars: fc.constantFrom(200, 239, 250, 251, 1_000),
      scope: fc.constantFrom('a.org', 'b.org'),
      name: fc.constantFrom('simhash/1', 'simhash/1', 'other/1'),
    }),
    { maxLength: 24 },
  )
  .map((all) =>
    all.map(({ bits, ...rest }, i) => {
      let value = BigInt(`0x${A}`);
      for (const bit of bits) value ^= 1n << BigInt(bit);
      return { url: `https://${rest.scope}/${i}`, hex: value.toString(16).padStart(16, '0'), ...rest };
    }),
  );
type Page = { url: string; hex: string; chars: number; scope: string; name: string };

const lineOf = ({ url, hex, chars, scope, name }: Page): string => [url, hex, chars, scope, name].join('\t');

const clusters = fc
  .record({ pieces: fc.integer({ min: 1, max: 5 }), reducers: fc.integer({ min: 1, max: 5 }), seed: fc.nat() })
  .chain(({ seed, ...rest }) => fc.constant({ ...rest, random: randomOf(seed) }));

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const distanceOf = (a: Page, b: Page): number => fingerprintDistance(parseFingerprint(a.hex), parseFingerprint(b.hex));
const isNear = (a: Page, b: Page): boolean =>
  a.url !== b.url &&
  a.scope === b.scope &&
  a.name === b.name &&
  isAlikeInLength(a.chars, b.chars) &&
  distanceOf(a, b) <= 3;
const isEqual = (a: Page, b: Page): boolean => isNear(a, b) && a.hex === b.hex && a.chars === b.chars;

/** The pages without a page of the same text before them in the order of the URLs. */
const leadersOf = (all: readonly Page[]): Page[] => all.filter((a) => !all.some((b) => b.url < a.url && isEqual(a, b)));

describe('dedup', () => {
  it('any order within a key, any number of mappers and reducers, any piece read twice: the same pairs', async () => {
    await fc.assert(
      fc.asyncProperty(pages, clusters, fc.nat(3), async (all, cluster, repeated) => {
        const lines = all.map(lineOf);
        const expected = await streamed('dedup', lines, ONE);
        expect(await streamed('dedup', lines, { ...cluster, repeated })).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('pairs are those of the rule: one scope, one name, 3 bits, like lengths; equals stand for each other', async () => {
    await fc.assert(
      fc.asyncProperty(pages, clusters, async (all, cluster) => {
        const leaders = leadersOf(all);
        const expected: string[] = [];
        for (const [i, a] of all.entries()) {
          for (const b of all.slice(i + 1)) {
            const [first = a, second = b] = a.url < b.url ? [a, b] : [b, a];
            const isPair = isEqual(a, b) ? leaders.includes(first) : leaders.includes(a) && leaders.includes(b);
            if (isPair && isNear(a, b)) expected.push(`${first.url}\t${second.url}\t${distanceOf(a, b)}`);
          }
        }
        expect(await streamed('dedup', all.map(lineOf), cluster)).toEqual(expected.sort());
      }),
      { numRuns: 100 },
    );
  });

  it('without length and scope, signatures alone are compared', async () => {
    const lines = [`https://a.org/\t${A}`, `https://b.org/\t${A}`, `https://c.org/\t027ae506f43db69d`];
    expect(await streamed('dedup', lines, ONE)).toEqual(['https://a.org/\thttps://b.org/\t0']);
  });
});

describe('dedup-incoming', () => {
  it('the example of the published protocol: pages at 0 and 3 bits, each once', async () => {
    const library = [A, '7d859af98bc24962', '7d859af98bc2c962', '027ae506f43db69d'];
    const lines = library.map((hex, i) => `https://f.org/${i}\t${hex}`);
    const query = [`https://q.org/\t${A}`];
    expect(await streamed('dedup-incoming', lines, { ...ONE, query })).toEqual([
      'https://q.org/\thttps://f.org/0\t0',
      'https://q.org/\thttps://f.org/1\t3',
    ]);
  });

  it('pages near the leaders of the batch, whatever the order, the pieces and the reducers; a piece may come twice', async () => {
    await fc.assert(
      fc.asyncProperty(pages, clusters, fc.nat(3), async (all, cluster, repeated) => {
        const batch = all.filter((_, i) => i % 3 === 0);
        const leaders = leadersOf(batch);
        const expected = leaders.flatMap((leader) =>
          all
            .filter((page) => isNear(leader, page) && (!leaders.includes(page) || leader.url < page.url))
            .map((page) => `${leader.url}\t${page.url}\t${distanceOf(leader, page)}`),
        );
        const query = batch.map(lineOf).reverse();
        const pairs = await streamed('dedup-incoming', all.map(lineOf), { ...cluster, query, repeated });
        expect(pairs).toEqual(expected.sort());
      }),
      { numRuns: 150 },
    );
  });
});

describe('linkclusters', () => {
  const links = fc.array(
    fc.record({
      domain: fc.constantFrom('a.org', 'b.org', 'c.org'),
      path: fc.constantFrom('news', 'ad/click', 'login'),
      number: fc.nat(30),
      isNoise: fc.boolean(),
    }),
    { maxLength: 60 },
  );

  it('any order within a key, any number of mappers and reducers, any piece read twice: the same families', async () => {
    await fc.assert(
      fc.asyncProperty(links, clusters, fc.nat(3), async (all, cluster, repeated) => {
        const lines = all.map(
          ({ domain, path, number, isNoise }) => `https://www.${domain}/${path}/${number}.html${isNoise ? '\t1' : ''}`,
        );
        const expected = await streamed('linkclusters', lines, ONE);
        expect(await streamed('linkclusters', lines, { ...cluster, repeated })).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
