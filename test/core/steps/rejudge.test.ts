import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { isOwnPage } from '../../../src/core/domain/crawl/states/duplicate.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import { rejudge } from '../../../src/core/steps/update/reparse-chunk.ts';
import { judgeRepeats, type RepeatDeps } from '../../../src/core/steps/update/repeats.ts';
import { hammingDistance } from '../../../src/page/near/fingerprint-tables.ts';
import { HOST_PLAN, signed } from '../../contracts/fingerprint-tables.contract.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../memory/fingerprint-tables.ts';

/** Signatures of three texts far from each other, with variants that are near. */
const TEXTS = ['0000000000000000', '00000000ffffffff', 'ffffffff00000000'];
const signatureOf = (text: number, variant: number): string =>
  `${(TEXTS[text] as string).slice(0, 15)}${((variant + Number.parseInt((TEXTS[text] as string)[15] as string, 16)) % 16).toString(16)}`;
const urlOf = (page: number): string => `https://a.org/${String(page).padStart(2, '0')}`;
const DISTANCE = 3;
const clock = { now: () => 0, sleep: async () => {} };

type Signatures = readonly { readonly before: string; readonly after: string }[];

/** Pages that were compared by one signature each, and have got another since. */
async function resigned(pages: Signatures) {
  const db = createMemoryCrawlDb();
  const near = { tables: createMemoryFingerprintTables({ db, ...HOST_PLAN }), scopeOf: hostOf };
  const deps: RepeatDeps = { db, ...near };
  for (const [i, { before }] of pages.entries()) {
    const previous = signed(urlOf(i), null, { state: 'unfetched', textChars: null, discoveredAt: i });
    const visited = [{ previous, datum: signed(urlOf(i), before, { discoveredAt: i }) }];
    const judged = await judgeRepeats(deps, visited, { distance: DISTANCE, minOverlap: 0, keep: 'first' });
    await db.write({ puts: [{ datum: judged.visited[0] as CrawlDatum, previous: null }, ...judged.others] });
  }
  const records = (await db.getMany(pages.map((_, i) => urlOf(i)))) as CrawlDatum[];
  await db.write({
    puts: records.map((previous, i) => ({ datum: { ...previous, signature: pages[i]!.after }, previous })),
  });
  const judge = (chunk: number) =>
    rejudge({ db, clock, near }, () => true, { distance: DISTANCE, minOverlap: 0, skipOutlinks: false, chunk });
  const all = async () => (await db.getMany(pages.map((_, i) => urlOf(i)))) as CrawlDatum[];
  return { db, judge, all };
}

const anySignature = fc
  .tuple(fc.nat(TEXTS.length - 1), fc.nat(15))
  .map(([text, variant]) => signatureOf(text, variant));
const anyPages = fc.array(fc.record({ before: anySignature, after: anySignature }), { minLength: 1, maxLength: 14 });

describe('judging pages by signatures that were written before', () => {
  it('each duplicate is near a page that stands for itself, whatever the chunks; a second time changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyPages, fc.integer({ min: 1, max: 15 }), async (pages, chunk) => {
        const { judge, all } = await resigned(pages);
        await judge(chunk);
        const records = await all();
        const own = new Map(records.filter(isOwnPage).map((datum) => [datum.url, datum]));
        for (const { state, target, signature } of records) {
          if (state !== 'duplicate') continue;
          const representative = own.get(target as string);
          expect(representative).toBeDefined();
          expect(hammingDistance(signature as string, representative?.signature as string)).toBeLessThanOrEqual(
            DISTANCE,
          );
        }
        for (const { url, signature } of own.values()) {
          const near = [...own.values()].filter(
            (other) => other.url !== url && hammingDistance(signature as string, other.signature as string) <= DISTANCE,
          );
          expect(near).toEqual([]);
        }
        expect(await judge(chunk)).toEqual({ marked: 0, restored: 0 });
        expect(await all()).toEqual(records);
      }),
      { numRuns: 200 },
    );
  });

  it('pages that repeat each other by both signatures keep their representative, in chunks of one', async () => {
    const same = { before: signatureOf(0, 1), after: signatureOf(1, 1) };
    const { db, judge, all } = await resigned([same, same, same]);
    const before = await all();
    expect(before.map(({ state }) => state)).toEqual(['fetched', 'duplicate', 'duplicate']);
    expect(await judge(1)).toEqual({ marked: 0, restored: 0 });
    expect(await all()).toEqual(before);
    expect(await db.feedEnds()).toMatchObject({ last: 0 });
  });

  it('of pages that have become alike, the one known longest represents', async () => {
    const pages = [0, 1, 2].map((text) => ({ before: signatureOf(text, 0), after: signatureOf(0, 0) }));
    for (const chunk of [1, 2, 3]) {
      const { judge, all } = await resigned(pages);
      expect(await judge(chunk)).toEqual({ marked: 2, restored: 0 });
      expect((await all()).map(({ target }) => target)).toEqual([null, urlOf(0), urlOf(0)]);
    }
  });
});
