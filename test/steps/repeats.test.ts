import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryCrawlDb } from '../../src/adapters/memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../src/adapters/memory/fingerprint-tables.ts';
import { isAlikeInLength, isOwnPage } from '../../src/domain/crawl/change/repeats.ts';
import type { CrawlDatum } from '../../src/domain/crawl/states/datum.ts';
import { hammingDistance } from '../../src/domain/page/near/hamming.ts';
import { hostOf } from '../../src/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../src/ports/crawl-db.ts';
import { judgeRepeats, type RepeatOptions, type RepeatRoom, type VisitedPage } from '../../src/steps/update/repeats.ts';
import { A, FOUR_OFF, HOST_PLAN, NEAR, signed } from '../contracts/fingerprint-tables.contract.ts';

const FIRST: RepeatOptions = { distance: 3, keep: 'first' };
const LATEST: RepeatOptions = { distance: 3, keep: 'latest' };
const OTHER = '027ae506f43db69d';

function roomOf(): RepeatRoom {
  const db = createMemoryCrawlDb();
  return { db, tables: createMemoryFingerprintTables({ db, ...HOST_PLAN }), scopeOf: hostOf };
}

/** A visit of the page at its position in time: the URLs of this test are known for as long as they are in `order`. */
const order = new Map<string, number>();
const at = (path: string): string => `https://a.org/${path}`;

/** Visits that find pages with these signatures; `null`: gone. What a visit leaves is what settle would make of it. */
async function visit(
  room: RepeatRoom,
  found: Readonly<Record<string, string | null>>,
  options = FIRST,
  change: Partial<CrawlDatum> = {},
) {
  const visited: VisitedPage[] = [];
  for (const [path, signature] of Object.entries(found)) {
    const url = at(path);
    if (!order.has(url)) order.set(url, order.size);
    const known = await room.db.get(url);
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
  const judged = await judgeRepeats(room, visited, options);
  await room.db.write({
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

describe('judging repeats', () => {
  it('a page near one that is known repeats it; one four bits off does not', async () => {
    const room = roomOf();
    expect(await visit(room, { first: A })).toEqual({ marked: 0, restored: 0 });
    expect(await visit(room, { near: NEAR, four: FOUR_OFF })).toEqual({ marked: 1, restored: 0 });
    expect(await repeats(room.db)).toEqual({ near: 'first' });
  });

  it('pages of one chunk repeat the one known longest', async () => {
    const room = roomOf();
    await room.db.write({ puts: [{ datum: signed(at('old'), OTHER, { discoveredAt: -1 }), previous: null }] });
    await visit(room, { new1: A, new2: A, old: A });
    expect(await repeats(room.db)).toEqual({ new1: 'old', new2: 'old' });
  });

  it('a page is near its representative itself: no chains', async () => {
    const room = roomOf();
    await visit(room, { a: A });
    await visit(room, { b: NEAR });
    // One bit from b, four from a.
    await visit(room, { c: FOUR_OFF });
    expect(await repeats(room.db)).toEqual({ b: 'a' });
  });

  it('other hosts, short texts and texts of other lengths repeat nothing', async () => {
    const room = roomOf();
    await room.db.write({ puts: [{ datum: signed('https://b.org/', A), previous: null }] });
    await visit(room, { first: A });
    await visit(room, { short: A }, FIRST, { textChars: 199 });
    await visit(room, { longer: A }, FIRST, { textChars: 1_260 });
    await visit(room, { alike: A }, FIRST, { textChars: 1_250 });
    expect(await repeats(room.db)).toEqual({ alike: 'first' });
  });

  it('a representative that is gone is followed by the next, and the others repeat that one', async () => {
    const room = roomOf();
    await visit(room, { a: A });
    await visit(room, { b: A, c: A, d: NEAR });
    expect(await visit(room, { a: null })).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(room.db)).toEqual({ c: 'b', d: 'b' });
  });

  it('one that changes away leaves its repeats; they may find another page that is as near', async () => {
    const room = roomOf();
    await visit(room, { a: NEAR, z: FOUR_OFF });
    expect(await repeats(room.db)).toEqual({ z: 'a' });
    await visit(room, { b: A });
    expect(await repeats(room.db)).toEqual({ z: 'a', b: 'a' });
    await visit(room, { a: OTHER });
    // z and b are four bits apart.
    expect(await repeats(room.db)).toEqual({});
  });

  it('one that changes a little keeps those who are still near', async () => {
    const room = roomOf();
    await visit(room, { a: A });
    await visit(room, { b: A, c: NEAR });
    await visit(room, { a: FOUR_OFF });
    expect(await repeats(room.db)).toEqual({ c: 'a' });
    expect((await room.db.get(at('b')))?.state).toBe('fetched');
  });

  it('a duplicate that changes away stands for itself, and repeats again when it is back', async () => {
    const room = roomOf();
    await visit(room, { a: A, b: A });
    expect(await visit(room, { b: OTHER })).toEqual({ marked: 0, restored: 1 });
    expect(await repeats(room.db)).toEqual({});
    await visit(room, { b: A });
    expect(await repeats(room.db)).toEqual({ b: 'a' });
  });

  it('a duplicate whose representative was lost behind its back is judged at its own next visit', async () => {
    const room = roomOf();
    await visit(room, { a: A, b: A });
    await room.db.write({ deletes: [(await room.db.get(at('a')))!] });
    await visit(room, { b: A });
    expect(await room.db.get(at('b'))).toMatchObject({ state: 'fetched', target: null });
  });

  it('a signature of another name tells nothing: its repeats stay, until one of that name has changed away', async () => {
    const room = roomOf();
    const renamed = { signatureName: 'simhash/2' };
    await visit(room, { a: A, b: A, c: NEAR });
    expect(await visit(room, { a: OTHER }, FIRST, renamed)).toEqual({ marked: 0, restored: 0 });
    expect(await visit(room, { b: A, c: NEAR })).toEqual({ marked: 0, restored: 0 });
    expect(await repeats(room.db)).toEqual({ b: 'a', c: 'a' });
    await visit(room, { a: A }, FIRST, renamed);
    expect(await repeats(room.db)).toEqual({ c: 'b' });
  });

  it('one signed by another name with a text of another length has changed away', async () => {
    const room = roomOf();
    await visit(room, { a: A, b: A });
    await visit(room, { a: OTHER }, FIRST, { signatureName: 'simhash/2', textChars: 300 });
    expect(await repeats(room.db)).toEqual({});
  });

  it('keep latest: the newer page represents, and takes over those who repeated the older', async () => {
    const room = roomOf();
    await visit(room, { a: A }, LATEST);
    await visit(room, { b: A }, LATEST);
    expect(await repeats(room.db)).toEqual({ a: 'b' });
    expect(await visit(room, { c: NEAR }, LATEST)).toEqual({ marked: 1, restored: 0 });
    expect(await repeats(room.db)).toEqual({ a: 'c', b: 'c' });
    // Visited again without a change, nobody displaces anybody.
    await visit(room, { a: A, b: A, c: NEAR }, LATEST);
    expect(await repeats(room.db)).toEqual({ a: 'c', b: 'c' });
  });

  it('an unchanged page is not compared with anything', async () => {
    const room = roomOf();
    await visit(room, { a: A, b: OTHER });
    let asked = 0;
    const tables = {
      ...room.tables,
      near: (questions: Parameters<typeof room.tables.near>[0]) => {
        asked += questions.length;
        return room.tables.near(questions);
      },
    };
    await visit({ ...room, tables }, { a: A, b: OTHER });
    expect(asked).toBe(0);
  });

  it.each([
    ['first', FIRST],
    ['latest', LATEST],
  ] as const)('keep %s: whatever happens, each duplicate is near a page that stands for itself', async (_, options) => {
    const signatures = fc.constantFrom(A, NEAR, FOUR_OFF, '7d859af98bc2c963', OTHER, null);
    const paths = ['a', 'b', 'c', 'd', 'e', 'f'];
    const round = fc.dictionary(fc.constantFrom(...paths), signatures, { noNullPrototype: true, maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 8 }), async (rounds) => {
        const room = roomOf();
        for (const found of rounds) {
          await visit(room, found, options);
          for await (const datum of room.db.scan()) {
            if (datum.state !== 'duplicate') {
              expect(datum.target).toBeNull();
              continue;
            }
            const representative = (await room.db.get(datum.target!))!;
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
        const room = roomOf();
        for (const [i, signature] of pages.entries()) await visit(room, { [`p${i}`]: signature }, options);
        const own: string[] = [];
        for await (const datum of room.db.scan()) if (isOwnPage(datum)) own.push(datum.signature!);
        expect(own.sort()).toEqual([...new Set(pages)].sort());
      }),
      { numRuns: 50 },
    );
  });
});
