import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAMILIES_PRINT_KEY } from '../../src/core/steps/update/link-treatment.ts';
import { keepFamilies, noiseFamilies, undoFamilies } from '../../src/published/map-reduce/keep-families.ts';
import { linkClusters } from '../../src/published/map-reduce/link-clusters.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

async function* stream(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}

/** The families of a job's lines, of at least so many URLs: first URL to verdict. */
async function verdicts(links: readonly string[], least = 1): Promise<Map<string, string>> {
  const mapped: string[] = [];
  for await (const line of linkClusters.map(stream(links))) mapped.push(line);
  const found = new Map<string, string>();
  for await (const line of linkClusters.reduce(stream(mapped.sort()))) {
    const [, , size = '', verdict = '', , first = ''] = line.split('\t');
    if (Number(size) >= least) found.set(first, verdict);
  }
  return found;
}

const WORDS = 'harbour winter council orchard railway museum festival weather library bridge garden market'.split(' ');
const slug = (i: number): string => `${WORDS[i % 12]}-${WORDS[(i * 5 + 3) % 12]}-${WORDS[(i * 7 + 1) % 11]}`;
const SITE = 'https://www.paper.example';

/** Links of a newspaper: articles, sections and a forum are content; adverts, logins and tags are noise. */
function newspaper(sizes: { readonly adverts: number; readonly logins: number; readonly tags: number }) {
  const content = [
    ...Array.from({ length: 80 }, (_, i) => `/news/2024/${10 + (i % 3)}/${slug(i)}-${1_000 + i}.html`),
    ...Array.from({ length: 12 }, (_, i) => `/section/${WORDS[i]}/`),
    ...Array.from({ length: 40 }, (_, i) => `/forum/thread.php?id=${31 * i + 7}`),
  ].map((path) => SITE + path);
  const noise = {
    adverts: Array.from({ length: sizes.adverts }, (_, i) => `/ad/click?campaign=${i * 37}&slot=${i % 9}`),
    logins: Array.from({ length: sizes.logins }, (_, i) => `/account/login?next=%2Fnews%2F${1_000 + i}`),
    tags: Array.from({ length: sizes.tags }, (_, i) => `/tag/${WORDS[i % 12]}-${i}`),
  };
  return { content, noise: Object.values(noise).map((paths) => paths.map((path) => SITE + path)) };
}

const pathOf = (url: string): string => url.slice(SITE.length);

describe('noise among the families of a site', () => {
  it('three kinds at once are all found, however unlike their numbers are, and no content is', async () => {
    const size = fc.integer({ min: 1, max: 400 });
    await fc.assert(
      fc.asyncProperty(fc.record({ adverts: size, logins: size, tags: size }), async (sizes) => {
        const { content, noise } = newspaper(sizes);
        const found = await verdicts([...content, ...noise.flat().map((url) => `${url}\t1`)]);
        for (const [first, verdict] of found) {
          expect([pathOf(first), verdict]).toEqual([
            pathOf(first),
            /^\/(ad|account|tag)\//.test(pathOf(first)) ? 'noise' : 'content',
          ]);
        }
        for (const kind of ['/ad/', '/account/', '/tag/']) {
          expect([...found.keys()].some((first) => pathOf(first).startsWith(kind))).toBe(true);
        }
      }),
      { numRuns: 12 },
    );
  });

  it('an article that only sidebars link to does not make noise of all articles', async () => {
    const { content, noise } = newspaper({ adverts: 5, logins: 5, tags: 5 });
    const marked = content.map((url, i) => (i % 7 === 0 ? `${url}\t1` : url));
    const found = await verdicts([...marked, ...noise.flat().map((url) => `${url}\t1`)], 5);
    expect(found.size).toBeGreaterThan(5);
    for (const [first, verdict] of found) {
      if (/^\/(news|section|forum)\//.test(pathOf(first))) expect([first, verdict]).toEqual([first, 'content']);
    }
  });
});

it('families applied in another order are the same families', async () => {
  const files = ['b.org', 'a.org', 'c.org'].map((domain) => ({
    name: domain,
    lines: [`${domain}\t0\t7\tnoise\t0.9000\thttps://${domain}/ad/1`],
  }));
  const printOf = async (order: readonly number[]): Promise<string | undefined> => {
    const db = createMemoryCrawlDb();
    const given = order.map((at) => ({ name: files[at]!.name, lines: stream(files[at]!.lines) }));
    expect(await keepFamilies(db, await noiseFamilies(given, 1))).toEqual({
      domains: 3,
      families: 3,
      urls: 21,
      removed: 0,
    });
    await undoFamilies(db, 'c.org', 2);
    return db.meta(FAMILIES_PRINT_KEY);
  };
  const print = await printOf([0, 1, 2]);
  expect(print).toMatch(/^[0-9a-f]{16}$/);
  expect(await printOf([2, 1, 0])).toBe(print);
  const two = createMemoryCrawlDb();
  const first = [0, 1].map((at) => ({ name: '', lines: stream(files[at]!.lines) }));
  await keepFamilies(two, await noiseFamilies(first, 1));
  expect(await two.meta(FAMILIES_PRINT_KEY)).toBe(print);
});
