import { expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { crawl, type LoopSteps } from '../../../src/core/steps/crawl.ts';
import type { Candidate } from '../../../src/core/steps/generate/fetch-list.ts';
import { growList, notListed } from '../../../src/core/steps/generate/generate.ts';
import type { RoundSummary } from '../../../src/core/steps/round-summary.ts';
import { listOf } from '../../contracts/crawl-db-exam.ts';
import { fetchItem, fetchItems, START, urlOf } from '../../contracts/segment-records.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';

const NOTHING = { failures: [], filteredBy: {}, demotedBy: {}, layers: [], hosts: { busiest: [], failing: [] } };

/** Steps of one round; `left`: what each fetch leaves, `added`: by how much its list grows after each. */
function stepsOf(left: readonly number[], added: readonly number[], signal = new AbortController()) {
  const calls: string[] = [];
  const nothing = async (): Promise<void> => {};
  let generated = 0;
  let fetches = 0;
  const steps = {
    ...{ inject: nothing, readmitLinks: async () => null, admitWaiting: nothing, readSitemaps: nothing },
    ...{ unfinished: async () => [], pause: nothing, awaitTurn: async () => false, trimFeed: nothing },
    ...{ sweepOrphans: async () => ({ orphans: 0 }), applyFamilies: nothing, parse: nothing },
    generate: async () => ({ segment: generated++ === 0 ? 's' : null, selected: 2, waiting: undefined }),
    async fetchAndParse() {
      calls.push('fetch');
      const number = fetches++;
      if ((left[number] ?? 0) < 0) signal.abort();
      return { ...NOTHING, segment: 's', fetched: 3, failed: 1, left: Math.abs(left[number] ?? 0) };
    },
    async updatedb(_: string, isGrowing = false) {
      calls.push(isGrowing ? 'apply' : 'end');
      return { ...NOTHING, segment: 's', new: 2, modified: fetches, meanDistance: 4 * fetches };
    },
    async grow() {
      calls.push('grow');
      return added[fetches - 1] ?? 0;
    },
  } as unknown as LoopSteps;
  const rounds: RoundSummary[] = [];
  const options = { rounds: 9, signal: signal.signal, onRound: (round: RoundSummary) => rounds.push(round) };
  const play = () => crawl(steps, { ...options, stopwatch: () => ({ ms: 0, cpuMs: 0 }) });
  return { calls, rounds, play };
}

it('a round that grows is one round, with the sums of what it took in', async () => {
  const { calls, rounds, play } = stepsOf([], [5, 7]);
  await play();
  const pass = ['fetch', 'apply', 'grow'];
  expect(calls).toEqual([...pass, ...pass, ...pass, 'end']);
  expect(rounds).toMatchObject([{ round: 1, segment: 's', generated: 14, fetched: 9, failed: 3, new: 8 }]);
  // Of 1, 2, 3 and once more 3 pages at 4, 8, 12 and 12 bits.
  expect(rounds[0]?.meanDistance).toBeCloseTo((4 + 2 * 8 + 2 * 3 * 12) / 9);
});

it('a round whose hosts are not waited for ends, and leaves their URLs to the next one', async () => {
  const { calls, rounds, play } = stepsOf([0, 4], [5, 7]);
  await play();
  expect(calls).toEqual(['fetch', 'apply', 'grow', 'fetch', 'end']);
  expect(rounds).toMatchObject([{ generated: 7, fetched: 6 }]);
});

it('a round that a signal stops keeps the counts of what was applied', async () => {
  const { rounds, play } = stepsOf([0, -4], [5]);
  expect(await play()).toMatchObject({ stoppedBy: 'signal', interrupted: { segment: 's', left: 4 } });
  expect(rounds).toMatchObject([{ generated: 7, fetched: 3, new: 2 }]);
});

const candidateOf = (index: number): Candidate => {
  const { url, state, score, depth } = newDatum({ url: urlOf(index), now: START, intervalMs: 1 });
  const times = { dueAt: START, intervalMs: 1, lastFetchAt: null };
  const flags = { isNew: true, isFixed: false };
  const entry = {
    ...times,
    ...flags,
    url,
    state,
    score,
    depth,
    failures: 0,
    unansweredAt: null,
    belief: null,
    weight: 1,
  };
  return { entry, host: 'a.example', rank: 1 };
};

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

it('the list of a segment grows at its end, by URLs that it has not', async () => {
  const [db, segments] = [createMemoryCrawlDb(), createMemorySegmentStore()];
  await segments.create({ id: 's', createdAt: START, hosts: {} }, fetchItems(3));
  await db.write({ segments: [{ id: 's', state: 'generated', createdAt: START, urls: 3, applied: 2 }] });
  const fresh = await notListed({ db, segments }, 's', [1, 3, 2, 4].map(candidateOf));
  expect(fresh.map(({ entry }) => entry.url)).toEqual([3, 4].map(urlOf));
  const items = fresh.map(({ entry }, index) => ({ ...fetchItem(3 + index), url: entry.url, index }));
  const row = await growList({ db, segments }, 's', each(items), {});
  expect(row).toEqual({ id: 's', state: 'generated', createdAt: START, urls: 5, applied: 2 });
  const segment = await segments.open('s', 'read');
  expect((await listOf(segment.fetchList())).map(({ index, url }) => [index, url])).toEqual(
    [0, 1, 2, 3, 4].map((index) => [index, urlOf(index)]),
  );
});
