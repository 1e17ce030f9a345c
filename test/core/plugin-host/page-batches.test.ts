import { describe, expect, it } from 'vitest';
import { PageBatches, type RunBatch } from '../../../src/core/plugin-host/parsing/parser-threads.ts';
import type { PageToParse, ParsedPage } from '../../../src/core/ports/page-parser.ts';

const page = (index: number, bytes = 10): PageToParse => ({
  index,
  url: `https://a.example/${index}`,
  contentType: 'text/html',
  headers: {},
  body: new Uint8Array(bytes),
  metadata: {},
});
const answer = (index: number): ParsedPage => ({ encoded: Uint8Array.of(index), failed: false, outlinks: index });
const failure = (index: number): ParsedPage => ({ encoded: Uint8Array.of(index), failed: true, outlinks: 0 });

interface Call {
  readonly indexes: number[];
  readonly handOver: boolean;
  finish(): void;
}

/** Workers whose answers a test releases; pages in `poison` crash them. */
function workers(poison: readonly number[] = []): { calls: Call[]; run: RunBatch<ParsedPage> } {
  const calls: Call[] = [];
  const run: RunBatch<ParsedPage> = (pages, { handOver }) =>
    new Promise((resolve, reject) => {
      const indexes = pages.map(({ index }) => index);
      const finish = (): void => {
        if (indexes.some((index) => poison.includes(index))) reject(new Error('worker lost'));
        else resolve(indexes.map(answer));
      };
      calls.push({ indexes, handOver, finish });
    });
  return { calls, run };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function finishAll(calls: readonly Call[]): Promise<void> {
  for (let i = 0; i < calls.length; i++) {
    calls[i]?.finish();
    await turn();
  }
}

describe('PageBatches', () => {
  it('gives a free worker one page at once, and what came meanwhile together and in order', async () => {
    const { calls, run } = workers();
    const batches = new PageBatches(1, run, ({ index }) => failure(index));
    const answers = Promise.all(Array.from({ length: 12 }, (_, index) => batches.parse(page(index))));
    expect(calls.map(({ indexes }) => indexes)).toEqual([[0]]);
    await finishAll(calls);
    expect(calls.map(({ indexes }) => indexes)).toEqual([[0], [1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11]]);
    expect(calls.map(({ handOver }) => handOver)).toEqual([true, false, false]);
    expect((await answers).map(({ outlinks }) => outlinks)).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it('keeps large pages out of batches', async () => {
    const { calls, run } = workers();
    const batches = new PageBatches(1, run, ({ index }) => failure(index));
    const sizes = [1, 300_000, 300_000, 1, 900_000, 1];
    const answers = Promise.all(sizes.map((bytes, index) => batches.parse(page(index, bytes))));
    await finishAll(calls);
    expect(calls.map(({ indexes }) => indexes)).toEqual([[0], [1], [2, 3], [4], [5]]);
    expect(await answers).toHaveLength(sizes.length);
  });

  it('never gives a worker two batches, whatever fails', async () => {
    const { calls, run } = workers([2]);
    let busy = 0;
    let most = 0;
    const counted: RunBatch<ParsedPage> = async (pages, options) => {
      most = Math.max(most, ++busy);
      try {
        return await run(pages, options);
      } finally {
        busy--;
      }
    };
    const batches = new PageBatches(2, counted, ({ index }) => failure(index));
    const answers = Promise.all(Array.from({ length: 30 }, (_, index) => batches.parse(page(index))));
    await finishAll(calls);
    expect(await answers).toHaveLength(30);
    expect(most).toBe(2);
  });

  it('a page that breaks its worker fails alone; the others of its batch are parsed again', async () => {
    const { calls, run } = workers([3]);
    const batches = new PageBatches(1, run, ({ index }) => failure(index));
    const answers = Promise.all(Array.from({ length: 6 }, (_, index) => batches.parse(page(index))));
    await finishAll(calls);
    expect((await answers).map(({ failed }) => failed)).toEqual([false, false, false, true, false, false]);
    expect(calls.map(({ indexes }) => indexes)).toEqual([[0], [1, 2, 3, 4, 5], [1], [2], [3], [4], [5]]);
  });

  it('rejects with a fault that is no page’s', async () => {
    const { calls, run } = workers([0]);
    const batches = new PageBatches(1, run, () => {
      throw new Error('plugins broken');
    });
    const parsed = batches.parse(page(0));
    calls[0]?.finish();
    await expect(parsed).rejects.toThrow('plugins broken');
  });
});
