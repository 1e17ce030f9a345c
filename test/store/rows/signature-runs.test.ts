import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { Finding } from '../../../src/core/domain/findings.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { NearAnswer, NearQuestion } from '../../../src/core/ports/near.ts';
import { hammingDistance } from '../../../src/page/near/fingerprint-tables.ts';
import { checkNear } from '../../../src/store/rows/care/verify-near.ts';
import { recordKey } from '../../../src/store/rows/codecs/keys.ts';
import { encodeRecord } from '../../../src/store/rows/codecs/record-codec.ts';
import { nearFact, RowsFingerprintTables } from '../../../src/store/rows/near/fingerprint-tables.ts';
import { blockRange, NEAR_FACT_KEY, RUNS_KEY } from '../../../src/store/rows/near/signature-entries.ts';
import { decodeRuns, emptyRun, NO_RUNS, planMerges, RUN_SIZES } from '../../../src/store/rows/near/signature-runs.ts';
import type { RecordChange } from '../../../src/store/rows/rows.ts';
import { signed } from '../../contracts/fingerprint-tables.contract.ts';
import { MemoryRows } from './memory-rows.ts';

/** So small that a few pages make runs, merges of several pieces and blocks of several pages. */
const SMALL = {
  scope: 'host',
  minChars: 200,
  scopeOf: hostOf,
  sizes: { log: 5, entries: 2, urls: 2, questions: 0 },
} as const;

const URLS = Array.from({ length: 40 }, (_, i) => `https://${i % 3 === 0 ? 'a' : 'b'}.org/${i}`);
/** Around a few centres, one to four bits away from each other. */
const SIGNATURES = ['0000000000000000', 'fd851af90bc24962', 'fd851af90bc2ffff'].flatMap((centre) =>
  [0n, 1n, 0x8000n, 0x1_0001_0001n, 0x1_0001_0001_0001n, 0x8000_0000_0000_0000n].map((flips) =>
    (BigInt(`0x${centre}`) ^ flips).toString(16).padStart(16, '0'),
  ),
);
const QUESTIONS = SIGNATURES.flatMap((signature): NearQuestion[] =>
  [URLS[0]!, URLS[1]!].map((url) => ({ url, signature, signatureName: 'simhash/1', textChars: 1_000, distance: 3 })),
);

type Model = Map<string, CrawlDatum>;

/** By comparing with every record. */
function nearIn(model: Model, { url, signature, distance }: NearQuestion): NearAnswer {
  const pages = [...model.values()].flatMap((datum) => {
    if (datum.url === url || datum.signature === null || hostOf(datum.url) !== hostOf(url)) return [];
    const own = hammingDistance(datum.signature, signature);
    const isDuplicate = datum.state === 'duplicate';
    return own > distance ? [] : [{ url: datum.url, distance: own, textChars: datum.textChars!, isDuplicate }];
  });
  pages.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1));
  return { pages, complete: true };
}

const change = fc.record({
  url: fc.constantFrom(...URLS),
  /** `null`: the page has no signature any more. */
  signature: fc.option(fc.constantFrom(...SIGNATURES), { nil: null, freq: 4 }),
  textChars: fc.constantFrom(200, 1_000),
  isDuplicate: fc.constantFrom(false, false, true),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** What becomes of a batch and its process. `lost`, `taken`: killed before and after the write reached the disk. */
const batches = fc.array(
  fc.record({
    changes: fc.array(change, { maxLength: 8 }),
    fate: fc.constantFrom('written', 'written', 'written', 'written', 'given up', 'lost', 'taken'),
  }),
  { maxLength: 40 },
);

function recordChanges(model: Model, changes: readonly Change[]): { changes: RecordChange[]; after: Model } {
  const after = new Map(model);
  const made = changes.map(({ url, signature, textChars, isDuplicate }): RecordChange => {
    const before = after.get(url) ?? null;
    const state = isDuplicate ? 'duplicate' : 'fetched';
    const datum = signature === null ? null : signed(url, signature, { textChars, state });
    if (datum === null) after.delete(url);
    else after.set(url, datum);
    return { before, after: datum };
  });
  return { changes: made, after };
}

async function findingsIn(memory: MemoryRows, model: Model, plan: Parameters<typeof checkNear>[1]): Promise<Finding[]> {
  const rows = memory.open();
  for (const datum of model.values()) memory.values.set(recordKey(datum.url), encodeRecord(datum));
  memory.values.set(NEAR_FACT_KEY, Buffer.from(nearFact(plan)));
  const findings: Finding[] = [];
  await checkNear(rows, plan, (finding) => findings.push(finding));
  return findings.filter(({ subject }) => subject !== 'duplicates');
}

describe('signatures in a log and in runs', () => {
  it('whatever is added, changed and removed, in whatever batches, with a kill at any write: the answers of a comparison with all', async () => {
    let merges = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const memory = new MemoryRows();
        let tables = new RowsFingerprintTables(memory.open(), SMALL);
        let model: Model = new Map();
        for (const { changes, fate } of all) {
          const { changes: made, after } = recordChanges(model, changes);
          const batch = memory.open().batch();
          const onWritten = await tables.stage(batch, made);
          if (fate === 'written' || fate === 'taken') {
            await batch.write();
            model = after;
          }
          if (fate === 'written') onWritten();
          if (fate === 'lost' || fate === 'taken') tables = new RowsFingerprintTables(memory.open(), SMALL);
          expect(await tables.near(QUESTIONS)).toEqual(QUESTIONS.map((question) => nearIn(model, question)));
        }
        const stored = memory.values.get(RUNS_KEY);
        if (stored !== undefined) merges = Math.max(merges, decodeRuns(stored).generation);
        const reader = new RowsFingerprintTables(memory.open(), SMALL, true);
        expect(await reader.near(QUESTIONS)).toEqual(QUESTIONS.map((question) => nearIn(model, question)));
        expect(await findingsIn(memory, model, SMALL)).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(merges).toBeGreaterThan(3);
  });

  it('a question that is asked while batches are written has the answer of before or of after one of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 3, maxLength: 8 }), { minLength: 12, maxLength: 20 }),
        async (all) => {
          const memory = new MemoryRows();
          const tables = new RowsFingerprintTables(memory.open(), SMALL);
          const reader = new RowsFingerprintTables(memory.open(), SMALL, true);
          const models: Model[] = [new Map()];
          let isDone = false;
          const ask = async (asked: RowsFingerprintTables): Promise<void> => {
            while (!isDone) {
              const first = models.length - 1;
              const answers = await asked.near(QUESTIONS);
              const possible = models.slice(first).map((model) => QUESTIONS.map((question) => nearIn(model, question)));
              for (const [i, answer] of answers.entries())
                expect(possible.map((each) => each[i])).toContainEqual(answer);
            }
          };
          const asking = Promise.all([ask(tables), ask(reader)]);
          for (const changes of all) {
            const { changes: made, after } = recordChanges(models.at(-1)!, changes);
            const batch = memory.open().batch();
            const onWritten = await tables.stage(batch, made);
            models.push(after);
            await batch.write();
            onWritten();
          }
          isDone = true;
          await asking;
        },
      ),
      { numRuns: 30 },
    );
  });

  it('of equal pages a bounded number is kept, those that represent themselves first, and answers say so', async () => {
    const memory = new MemoryRows();
    const plan = { ...SMALL, sizes: { log: 400, entries: 8, urls: 8, questions: 0 } };
    const tables = new RowsFingerprintTables(memory.open(), plan);
    const model: Model = new Map();
    const write = async (changes: RecordChange[]): Promise<void> => {
      const batch = memory.open().batch();
      const onWritten = await tables.stage(batch, changes);
      await batch.write();
      onWritten();
      for (const { before, after } of changes) {
        if (after === null) model.delete(before!.url);
        else model.set(after.url, after);
      }
    };
    const pageOf = (i: number): CrawlDatum =>
      signed(`https://a.org/p${i}`, SIGNATURES[0]!, { state: i % 5 === 0 ? 'fetched' : 'duplicate' });
    for (let i = 0; i < 3_000; i += 100) {
      await write(Array.from({ length: 100 }, (_, j) => ({ before: null, after: pageOf(i + j) })));
    }
    const asked: NearQuestion = { ...QUESTIONS[0]!, distance: 0 };
    const [answer] = await tables.near([asked]);
    expect(answer!.complete).toBe(false);
    expect(answer!.pages.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(600);
    expect(answer!.pages).toHaveLength(600 + 256);
    const longest = [...memory.values].filter(([key]) => key.startsWith('nr')).map(([, { length }]) => length);
    expect(Math.max(...longest)).toBeLessThan(1_400 * 24);
    expect(await findingsIn(memory, model, plan)).toEqual([]);
  });

  it('no batch carries more of a merge than in proportion to what it adds, and rows stay a fraction of the pages', async () => {
    const memory = new MemoryRows();
    const plan = { ...SMALL, sizes: { log: 512, entries: 64, urls: 24, questions: 0 } };
    const tables = new RowsFingerprintTables(memory.open(), plan);
    const signatureOf = (i: number): string =>
      BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n)
        .toString(16)
        .padStart(16, '0');
    for (let i = 0; i < 40_000; i += 100) {
      const batch = memory.open().batch();
      const changes = Array.from({ length: 100 }, (_, j) => ({
        before: null,
        after: signed(`https://a.org/${i + j}`, signatureOf(i + j)),
      }));
      const onWritten = await tables.stage(batch, changes);
      await batch.write();
      onWritten();
    }
    const { runs, merges } = decodeRuns(memory.values.get(RUNS_KEY)!);
    expect(runs.length + merges.length).toBeLessThan(12);
    expect(memory.batches.reduce((sum, rows) => sum + rows, 0) / 40_000).toBeLessThan(1.2);
    expect(Math.max(...memory.batches)).toBeLessThan(1_000);
    const asked = Array.from({ length: 400 }, (_, i) => ({
      ...QUESTIONS[0]!,
      url: 'https://a.org/new',
      signature: signatureOf(i * 100),
    }));
    const answers = await tables.near(asked);
    expect(answers.map(({ pages }) => pages.map(({ url }) => url))).toEqual(
      asked.map((_, i) => [`https://a.org/${i * 100}`]),
    );
  });
});

describe('filters of runs', () => {
  const plan = { ...SMALL, sizes: { log: 100, entries: 16, urls: 16, questions: 0 } };
  const wide = (i: number): string =>
    BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n)
      .toString(16)
      .padStart(16, '0');
  const tablesOf = async (signatures: readonly string[]) => {
    const memory = new MemoryRows();
    const tables = new RowsFingerprintTables(memory.open(), plan);
    for (let i = 0; i < signatures.length; i += 50) {
      const changes = signatures.slice(i, i + 50).map((signature, j) => ({
        before: null,
        after: signed(`https://a.org/${i + j}`, signature),
      }));
      const batch = memory.open().batch();
      const onWritten = await tables.stage(batch, changes);
      await batch.write();
      onWritten();
    }
    return { memory, tables };
  };
  const asking = (signature: string): NearQuestion => ({ ...QUESTIONS[0]!, url: 'https://a.org/new', signature });

  it('blocks in which nothing can be near are not read', async () => {
    const { memory, tables } = await tablesOf(Array.from({ length: 2_000 }, (_, i) => wide(i)));
    const far = Array.from({ length: 200 }, (_, i) => asking(wide(10_000 + i)));
    const nothing = far.map(() => ({ pages: [], complete: true }));
    const keysAsked = async (): Promise<number> => {
      const before = memory.asked;
      expect(await tables.near(far)).toEqual(nothing);
      return memory.asked - before;
    };
    const withoutFilters = await keysAsked();
    expect(await keysAsked()).toBeLessThan(withoutFilters / 2);
    expect(await tables.near([asking(wide(7))])).toMatchObject([{ pages: [{ url: 'https://a.org/7', distance: 0 }] }]);
  });

  it('what one table has left out, since it has too many with these bits, the others find', async () => {
    const alike = Array.from({ length: 3_000 }, (_, i) => `0000${wide(i).slice(4)}`);
    const { tables } = await tablesOf(alike);
    const asked = alike.map((signature) => asking(`8000${signature.slice(4)}`));
    const answers = await tables.near(asked);
    expect(answers.map(({ pages, complete }) => [complete, pages.some(({ distance }) => distance === 1)])).toEqual(
      alike.map(() => [true, true]),
    );
    expect(await tables.near(asked)).toEqual(answers);
    expect((await tables.near([asking(alike[0]!)]))[0]!.complete).toBe(false);
  });

  it('a run that has lost blocks has no filter: the other tables still find its pages', async () => {
    const signatures = Array.from({ length: 500 }, (_, i) => wide(i));
    const { memory } = await tablesOf(signatures);
    const inRuns = decodeRuns(memory.values.get(RUNS_KEY)!).runs;
    for (const { id } of inRuns) {
      const { from, to } = blockRange(id, 0);
      for (const key of [...memory.values.keys()]) if (key >= from && key < to) memory.values.delete(key);
    }
    const tables = new RowsFingerprintTables(memory.open(), plan);
    for (const _ of ['without filters', 'with those that could be made']) {
      const answers = await tables.near(signatures.map(asking));
      expect(answers.map(({ pages }) => pages.length)).toEqual(signatures.map(() => 1));
    }
  });
});

describe('planMerges', () => {
  const log = { size: 0, last: 0 };
  const runsOf = (...entries: number[]) => ({
    ...NO_RUNS,
    nextId: 100,
    runs: entries.map((count, i) => ({
      ...emptyRun(i + 1, { entries: count, urls: count }, RUN_SIZES),
      entries: count,
      urls: count,
    })),
  });
  const inputsOf = (...entries: number[]) =>
    planMerges(runsOf(...entries), log, RUN_SIZES).merges.map(({ inputs, isLast }) => ({ inputs, isLast }));

  it.each([
    ['one run stays', [8_192], []],
    ['a much larger one stays', [40_000, 8_192], []],
    [
      'equal ones are merged, with the next as large as both',
      [16_384, 8_192, 8_192],
      [{ inputs: [1, 2, 3], isLast: true }],
    ],
    ['only the youngest, where the next is larger', [90_000, 8_192, 8_192], [{ inputs: [2, 3], isLast: false }]],
  ])('%s', (_, entries, merges) => {
    expect(inputsOf(...entries)).toEqual(merges);
  });

  it('a run that is being merged is left to its merge, and the log becomes a run beside it', () => {
    const begun = planMerges(runsOf(8_192, 8_192), { size: 8_192, last: 7 }, RUN_SIZES);
    expect(begun.merges.map(({ inputs, through }) => [inputs, through])).toEqual([
      [[], 7],
      [[1, 2], 0],
    ]);
    expect(planMerges(begun, { size: 9_000, last: 8 }, RUN_SIZES)).toBe(begun);
  });
});
