import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ParserThreads,
  type SentPages,
  type StartableThread,
} from '../../../src/core/plugin-host/parsing/parser-threads.ts';
import type { PageToParse, ParsedPage } from '../../../src/core/ports/page-parser.ts';

const page = (index: number): PageToParse => ({
  index,
  url: `https://a.example/${index}`,
  contentType: 'text/html',
  headers: {},
  body: new Uint8Array(10),
  metadata: {},
});
const answer = (index: number): ParsedPage => ({ encoded: Uint8Array.of(index), failed: false, outlinks: 0 });
const REFUSED = Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' });
const handOver = { handOver: true };

/** A thread that the system refuses for the first `refusals` batches; each batch takes a second. */
function thread(refusals: number): StartableThread<ParsedPage> & { readonly parsed: number[] } {
  const parsed: number[] = [];
  let left = refusals;
  let hasStarted = false;
  return {
    parsed,
    get hasStarted() {
      return hasStarted;
    },
    async parse({ pages, onBegin }: SentPages) {
      if (left-- > 0) throw REFUSED;
      hasStarted = true;
      onBegin();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      parsed.push(...pages.map(({ index }) => index));
      return pages.map(({ index }) => answer(index));
    },
    close: async () => {},
  };
}

describe('ParserThreads', () => {
  const warnings: string[] = [];
  const threadsOf = (...threads: StartableThread<ParsedPage>[]): ParserThreads<ParsedPage> =>
    new ParserThreads({
      threads,
      timeoutMs: 60_000,
      now: () => Date.now(),
      log: { warn: (message) => void warnings.push(message) },
    });

  beforeEach(() => {
    warnings.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  it('asks again for the only thread, and blames no page', async () => {
    const only = thread(5);
    const run = threadsOf(only).run([page(1)], handOver);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await run).toEqual([answer(1)]);
  });

  it('ends with system-limit where none starts for half a minute', async () => {
    const run = threadsOf(thread(Number.POSITIVE_INFINITY)).run([page(1)], handOver);
    const ended = expect(run).rejects.toMatchObject({
      code: 'system-limit',
      message: expect.stringMatching(/no parser thread could be started within 30 s .*ulimit -n/),
    });
    await vi.advanceTimersByTimeAsync(33_000);
    await ended;
  });

  it('the others do the work of a refused thread, which is asked for again a minute later', async () => {
    const [good, refused] = [thread(0), thread(1)];
    const threads = threadsOf(good, refused);
    const runs = [1, 2, 3].map((index) => threads.run([page(index)], handOver));
    await vi.advanceTimersByTimeAsync(3_500);
    expect((await Promise.all(runs)).flat()).toEqual([answer(1), answer(2), answer(3)]);
    expect([good.parsed.sort(), refused.parsed, warnings.length]).toEqual([[1, 2, 3], [], 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    const later = [4, 5].map((index) => threads.run([page(index)], handOver));
    await vi.advanceTimersByTimeAsync(1_500);
    await Promise.all(later);
    expect(refused.parsed).toEqual([5]);
  });

  it('where the last thread at work is refused as well, another attempt is made with either', async () => {
    const [first, second] = [thread(3), thread(3)];
    const threads = threadsOf(first, second);
    const runs = [1, 2].map((index) => threads.run([page(index)], handOver));
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await Promise.all(runs)).flat()).toEqual([answer(1), answer(2)]);
  });

  it('a fault of a page that is under way is not taken for a refusal', async () => {
    const failing: StartableThread<ParsedPage> = {
      hasStarted: true,
      close: async () => {},
      async parse({ onBegin }) {
        onBegin();
        throw new Error('a plugin says ENOMEM');
      },
    };
    await expect(threadsOf(failing).run([page(1)], handOver)).rejects.toThrow('a plugin says ENOMEM');
  });
});
