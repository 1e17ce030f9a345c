import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../../src/core/domain/crawl/change/change-belief.ts';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { isAlikeInLength, isOwnPage } from '../../../src/core/domain/crawl/states/duplicate.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import {
  judgeRepeats,
  type RepeatDeps,
  type RepeatOptions,
  type VisitedPage,
} from '../../../src/core/steps/update/repeats.ts';
import { hammingDistance } from '../../../src/page/near/fingerprint-tables.ts';
import { createTextSketcher } from '../../../src/page/near/page-dimensions.ts';
import { A, FOUR_OFF, HOST_PLAN, NEAR, signed } from '../../contracts/fingerprint-tables.contract.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../memory/fingerprint-tables.ts';

const FIRST: RepeatOptions = { distance: 3, minOverlap: 0, keep: 'first' };
const LATEST: RepeatOptions = { distance: 3, minOverlap: 0, keep: 'latest' };
const OTHER = '027ae506f43db69d';

function depsOf(): RepeatDeps {
  const db = createMemoryCrawlDb();
  return { db, tables: createMemoryFingerprintTables({ db, ...HOST_PLAN }), scopeOf: hostOf };
}

/** A visit of the page at its position in time: the URLs of this test are known for as long as they are in `order`. */
const order = new Map<string, number>();
const at = (path: string): string => `https://a.org/${path}`;

/** Visits that find pages with these signatures; `null`: gone. What a visit leaves is what settle would make of it. */
async function visit(
  deps: RepeatDeps,
  found: Readonly<Record<string, string | null>>,
  options = FIRST,
  change: Partial<CrawlDatum> = {},
) {
  const visited: VisitedPage[] = [];
  for (const [path, signature] of Object.entries(found)) {
    const url = at(path);
    if (!order.has(url)) order.set(url, order.size);
    const known = await deps.db.get(url);
    const discoveredAt = known?.discoveredAt ?? order.get(url)!;
    const previous = known ?? signed(url, null, { state: 'unfetched', textChars: null, discoveredAt });
    const isSame = known !== undefined && known.signature === signature && isCopy(known);
    const datum =
      signature === null
        ? { ...previous, state: 'gone' as const, target: null }
        : isSame
          ? previous
          : signed(url, signature, { discoveredAt, ...change });
    visited.push({ previous, datum });
  }
  const judged = await judgeRepeats(deps, visited, options);
  await deps.db.write({
    puts: [...judged.visited.map((datum, i) => ({ datum, previous: visited[i]!.previous })), ...judged.others],
  });
  return { marked: judged.marked, restored: judged.restored };
}

const isCopy = ({ state }: CrawlDatum): boolean =>
  state === 'duplicate' || state === 'fetched' || state === 'notmodified';

async function repeats(db: CrawlDb): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for await (const { url, state, target } of db.scan())
    if (state === 'duplicate') all[url.slice(14)] = target!.slice(14);
  return all;
}

describe('versions of a page', () => {
  const isAmpOf = (path: string): Partial<CrawlDatum> => ({ metadata: { variant: 'amp', variantOf: at(path) } });
  // 16 bits from the first one, and 32.
  const [ALIKE, FAR, UNLIKE] = ['00000000ffff0000', '00000000ffffffff', '0000ffffffffffff'];

  it.each([FIRST, LATEST])('repeat it, however short and however less alike: keep $keep', async (options) => {
    const deps = depsOf();
    await visit(deps, { story: ALIKE }, options);
    await visit(deps, { amp: FAR }, options, { ...isAmpOf('story'), textChars: 50 });
    expect(await repeats(deps.db)).toEqual({ amp: 'story' });
    await visit(deps, { story: FAR }, options);
    expect(await repeats(deps.db)).toEqual({ amp: 'story' });
  });

  it('stand for themselves where they are unlike it', async () => {
    const deps = depsOf();
    await visit(deps, { home: ALIKE });
    await visit(deps, { amp: UNLIKE }, FIRST, isAmpOf('home'));
    expect(await repeats(deps.db)).toEqual({});
  });

  it('wait for it: at once where they are near, else at their next visit', async () => {
    const deps = depsOf();
    await visit(deps, { amp: ALIKE }, FIRST, isAmpOf('story'));
    await visit(deps, { amp2: FAR }, FIRST, isAmpOf('story'));
    expect(await repeats(deps.db)).toEqual({});
    await visit(deps, { story: ALIKE });
    expect(await repeats(deps.db)).toEqual({ amp: 'story' });
    await visit(deps, { amp2: FAR }, FIRST, isAmpOf('story'));
    expect(await repeats(deps.db)).toEqual({ amp: 'story', amp2: 'story' });
  });

  it('found in one chunk with it, whatever the order and the age', async () => {
    const deps = depsOf();
    order.set(at('x-amp'), -5);
    const amp = signed(at('x-amp'), ALIKE, { discoveredAt: -5, ...isAmpOf('x') });
    const story = signed(at('x'), ALIKE, { discoveredAt: 5 });
    const visited = [amp, story].map((datum) => ({
      datum,
      previous: { ...datum, state: 'unfetched' as const, signature: null, textChars: null, metadata: {} },
    }));
    const judged = await judgeRepeats(deps, visited, FIRST);
    expect(judged.visited.map(({ state, target }) => [state, target])).toEqual([
      ['duplicate', at('x')],
      ['fetched', null],
    ]);
  });

  it('stand for themselves when it is gone', async () => {
    const deps = depsOf();
    await visit(deps, { story: ALIKE });
    await visit(deps, { amp: FAR }, FIRST, isAmpOf('story'));
    expect(await visit(deps, { story: null })).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(deps.db)).toEqual({});
  });
});

describe('judging repeats', () => {
  it('a page near a known one repeats it; one four bits off does not', async () => {
    const deps = depsOf();
    expect(await visit(deps, { first: A })).toEqual({ marked: 0, restored: 0 });
    expect(await visit(deps, { near: NEAR, four: FOUR_OFF })).toEqual({ marked: 1, restored: 0 });
    expect(await repeats(deps.db)).toEqual({ near: 'first' });
  });

  it('pages of one chunk repeat the one known longest', async () => {
    const deps = depsOf();
    await deps.db.write({ puts: [{ datum: signed(at('old'), OTHER, { discoveredAt: -1 }), previous: null }] });
    await visit(deps, { new1: A, new2: A, old: A });
    expect(await repeats(deps.db)).toEqual({ new1: 'old', new2: 'old' });
  });

  it('a page is near its representative itself: no chains', async () => {
    const deps = depsOf();
    await visit(deps, { a: A });
    await visit(deps, { b: NEAR });
    // One bit from b, four from a.
    await visit(deps, { c: FOUR_OFF });
    expect(await repeats(deps.db)).toEqual({ b: 'a' });
  });

  it('pages of other hosts, short texts and texts of other lengths repeat no page', async () => {
    const deps = depsOf();
    await deps.db.write({ puts: [{ datum: signed('https://b.org/', A), previous: null }] });
    await visit(deps, { first: A });
    await visit(deps, { short: A }, FIRST, { textChars: 199 });
    await visit(deps, { longer: A }, FIRST, { textChars: 1_260 });
    await visit(deps, { alike: A }, FIRST, { textChars: 1_250 });
    expect(await repeats(deps.db)).toEqual({ alike: 'first' });
  });

  it('a representative that is gone is replaced by the next page, which the others then repeat', async () => {
    const deps = depsOf();
    await visit(deps, { a: A });
    await visit(deps, { b: A, c: A, d: NEAR });
    expect(await visit(deps, { a: null })).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(deps.db)).toEqual({ c: 'b', d: 'b' });
  });

  it('a representative that changes loses its duplicates; they may repeat another page that is as near', async () => {
    const deps = depsOf();
    await visit(deps, { a: NEAR, z: FOUR_OFF });
    expect(await repeats(deps.db)).toEqual({ z: 'a' });
    await visit(deps, { b: A });
    expect(await repeats(deps.db)).toEqual({ z: 'a', b: 'a' });
    await visit(deps, { a: OTHER });
    // z and b are four bits apart.
    expect(await repeats(deps.db)).toEqual({});
  });

  it('a representative that changes a little keeps the duplicates that are still near', async () => {
    const deps = depsOf();
    await visit(deps, { a: A });
    await visit(deps, { b: A, c: NEAR });
    await visit(deps, { a: FOUR_OFF });
    expect(await repeats(deps.db)).toEqual({ c: 'a' });
    expect((await deps.db.get(at('b')))?.state).toBe('fetched');
  });

  it('a duplicate that changes represents itself, and repeats again when it changes back', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A });
    expect(await visit(deps, { b: OTHER })).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(deps.db)).toEqual({});
    await visit(deps, { b: A });
    expect(await repeats(deps.db)).toEqual({ b: 'a' });
  });

  it('a duplicate whose representative was lost outside an update is judged at its own next visit', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A });
    await deps.db.write({ deletes: [(await deps.db.get(at('a')))!] });
    await visit(deps, { b: A });
    expect(await deps.db.get(at('b'))).toMatchObject({ state: 'fetched', target: null });
  });

  it('a signature of another kind cannot be compared: duplicates stay until one of their kind can be', async () => {
    const deps = depsOf();
    const renamed = { signatureName: 'simhash/2' };
    await visit(deps, { a: A, b: A, c: NEAR });
    expect(await visit(deps, { a: OTHER }, FIRST, renamed)).toEqual({ marked: 0, restored: 0 });
    expect(await visit(deps, { b: A, c: NEAR })).toEqual({ marked: 0, restored: 0 });
    expect(await repeats(deps.db)).toEqual({ b: 'a', c: 'a' });
    await visit(deps, { a: A }, FIRST, renamed);
    expect(await repeats(deps.db)).toEqual({ c: 'b' });
  });

  it('a page with a signature of another kind and a text of another length loses its duplicates', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A });
    await visit(deps, { a: OTHER }, FIRST, { signatureName: 'simhash/2', textChars: 300 });
    expect(await repeats(deps.db)).toEqual({});
  });

  it('keep latest: the newer page represents, and takes over the duplicates of the older', async () => {
    const deps = depsOf();
    await visit(deps, { a: A }, LATEST);
    await visit(deps, { b: A }, LATEST);
    expect(await repeats(deps.db)).toEqual({ a: 'b' });
    expect(await visit(deps, { c: NEAR }, LATEST)).toEqual({ marked: 1, restored: 0 });
    expect(await repeats(deps.db)).toEqual({ a: 'c', b: 'c' });
    // Visited again without a change, no page replaces a representative.
    await visit(deps, { a: A, b: A, c: NEAR }, LATEST);
    expect(await repeats(deps.db)).toEqual({ a: 'c', b: 'c' });
  });

  it('an unchanged page is not compared', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: OTHER });
    let asked = 0;
    const tables = {
      ...deps.tables,
      near: (questions: Parameters<typeof deps.tables.near>[0]) => {
        asked += questions.length;
        return deps.tables.near(questions);
      },
    };
    await visit({ ...deps, tables }, { a: A, b: OTHER });
    expect(asked).toBe(0);
  });

  it.each([
    ['first', FIRST],
    ['latest', LATEST],
  ] as const)('keep %s: whatever happens, each duplicate is near a page that represents itself', async (_, options) => {
    const signatures = fc.constantFrom(A, NEAR, FOUR_OFF, '7d859af98bc2c963', OTHER, null);
    const paths = ['a', 'b', 'c', 'd', 'e', 'f'];
    const round = fc.dictionary(fc.constantFrom(...paths), signatures, { noNullPrototype: true, maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 8 }), async (rounds) => {
        const deps = depsOf();
        for (const found of rounds) {
          await visit(deps, found, options);
          for await (const datum of deps.db.scan()) {
            if (datum.state !== 'duplicate') {
              expect(datum.target).toBeNull();
              continue;
            }
            const representative = (await deps.db.get(datum.target!))!;
            expect(representative.url).not.toBe(datum.url);
            expect(isOwnPage(representative)).toBe(true);
            expect(hammingDistance(datum.signature!, representative.signature!)).toBeLessThanOrEqual(3);
            expect(isAlikeInLength(datum.textChars!, representative.textChars!)).toBe(true);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['first', FIRST],
    ['latest', LATEST],
  ] as const)('keep %s: of two pages that are near, one repeats', async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(A, OTHER), { minLength: 1, maxLength: 12 }), async (pages) => {
        const deps = depsOf();
        for (const [i, signature] of pages.entries()) await visit(deps, { [`p${i}`]: signature }, options);
        const own: string[] = [];
        for await (const datum of deps.db.scan()) if (isOwnPage(datum)) own.push(datum.signature!);
        expect(own.sort()).toEqual([...new Set(pages)].sort());
      }),
      { numRuns: 50 },
    );
  });
});

describe('the texts of pages whose signatures are near', () => {
  const BY_TEXT: RepeatOptions = { ...FIRST, minOverlap: 0.9 };
  const sketch = createTextSketcher();
  const words = Array.from({ length: 500 }, (_, i) => `word${i}`);
  const quiet = { schedule: { intervalMs: 1, belief: null } };
  const SAME = { ...quiet, sketch: sketch({ mainText: words.join(' '), text: '' }) };
  const OTHER_TEXT = {
    ...quiet,
    sketch: sketch({ mainText: words.map((word) => `${word}x`).join(' '), text: '' }),
  };

  it('decide: pages of one template are none of each other', async () => {
    const deps = depsOf();
    await visit(deps, { a: A }, BY_TEXT, SAME);
    await visit(deps, { b: A, c: NEAR }, BY_TEXT, OTHER_TEXT);
    await visit(deps, { d: NEAR }, BY_TEXT, SAME);
    expect(await repeats(deps.db)).toEqual({ c: 'b', d: 'a' });
  });

  it('free a page that changes on its own, though its signature stays', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A }, BY_TEXT, SAME);
    expect(await repeats(deps.db)).toEqual({ b: 'a' });
    expect(await visit(deps, { b: FOUR_OFF }, BY_TEXT, OTHER_TEXT)).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(deps.db)).toEqual({});
  });

  it('a duplicate is free when its representative has another text', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A, c: A }, BY_TEXT, SAME);
    const changed = (await deps.db.get(at('a')))!;
    const judged = await judgeRepeats(deps, [{ previous: changed, datum: { ...changed, ...OTHER_TEXT } }], BY_TEXT);
    await deps.db.write({ puts: [{ datum: judged.visited[0]!, previous: changed }, ...judged.others] });
    expect(await repeats(deps.db)).toEqual({ c: 'b' });
  });

  it('a mark that no text was compared for ends at the next visit', async () => {
    const deps = depsOf();
    await visit(deps, { a: A, b: A }, FIRST);
    expect(await repeats(deps.db)).toEqual({ b: 'a' });
    const marked = (await deps.db.get(at('b')))!;
    const { visited, restored } = await judgeRepeats(deps, [{ previous: marked, datum: marked }], BY_TEXT);
    expect([visited[0]!.state, restored]).toEqual(['fetched', 1]);
  });

  it.each([BY_TEXT, { ...BY_TEXT, keep: 'latest' as const }])(
    'a start page represents, known first or last: keep $keep',
    async (rule) => {
      for (const order of [
        ['', 'page'],
        ['page', ''],
      ]) {
        const deps = depsOf();
        for (const path of order) await visit(deps, { [path]: A }, rule, SAME);
        expect(await repeats(deps.db)).toEqual({ page: '' });
      }
    },
  );

  it.each([BY_TEXT, { ...BY_TEXT, keep: 'latest' as const }])(
    'a page that brings new URLs represents: keep $keep',
    async (rule) => {
      const hub = { ...SAME, schedule: { intervalMs: 1, belief: { ...NO_BELIEF, newUrls: 2 } } };
      for (const order of [
        ['hub', 'page'],
        ['page', 'hub'],
      ]) {
        const deps = depsOf();
        for (const path of order) await visit(deps, { [path]: A }, rule, path === 'hub' ? hub : SAME);
        expect(await repeats(deps.db)).toEqual({ page: 'hub' });
      }
    },
  );
});
