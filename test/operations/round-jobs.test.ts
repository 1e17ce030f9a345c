import { describe, expect, it } from 'vitest';
import { createMemoryJobEngine } from '../../src/adapters/memory/job-engine.ts';
import { CrawlError } from '../../src/domain/errors.ts';
import { FIRST_JOB, type RoundSteps, roundJobs } from '../../src/operations/cluster/round-jobs.ts';
import type { Job, JobEnd, JobEngine } from '../../src/ports/job-engine.ts';
import type { RoundSummary } from '../../src/steps/round-summary.ts';
import type { UpdateSummary } from '../../src/steps/summaries.ts';

const NO_UPDATE: UpdateSummary = {
  segment: '',
  applied: 0,
  new: 0,
  modified: 0,
  meanDistance: null,
  unchanged: 0,
  gone: 0,
  redirected: 0,
  failed: 0,
  outlinks: 0,
  newUrls: 0,
  filteredUrls: 0,
  filteredBy: {},
  demotedBy: {},
  purged: 0,
  duplicates: 0,
  restored: 0,
  orphans: 0,
  released: 0,
  failures: [],
  layers: [],
  hosts: { busiest: [], failing: [] },
};

const DEATH = 'the worker died';

/** A crawl of three rounds of two parts, and the places where a worker may die in it. */
class Crawl {
  readonly segments = new Map<string, 'generated' | 'fetched' | 'updated'>();
  readonly fetches: string[] = [];
  readonly updates: string[] = [];
  readonly rounds: RoundSummary[] = [];
  /** Places passed so far, and those at which the worker dies. */
  places = 0;
  readonly deaths: ReadonlySet<number>;

  constructor(deaths: Iterable<number>) {
    this.deaths = new Set(deaths);
  }

  place(): void {
    if (this.deaths.has(this.places++)) throw new Error(DEATH);
  }

  perform(engine: JobEngine): (job: Job, signal: AbortSignal) => Promise<JobEnd> {
    const steps: RoundSteps = {
      unfinished: async () => [...this.segments].flatMap(([id, state]) => (state === 'updated' ? [] : [id])),
      generate: async () => {
        const round = Math.floor(this.segments.size / 2) + 1;
        if (round > 3) return { segments: [], laterMs: null };
        // What an earlier try has made is leased already.
        const ids = ['a', 'b'].map((part) => `${round}${part}`).filter((id) => !this.segments.has(id));
        for (const id of ids) {
          this.segments.set(id, 'generated');
          this.place();
        }
        return { segments: ids, laterMs: null };
      },
      updatedb: async (segment) => {
        this.place();
        expect(this.segments.get(segment)).toBe('fetched');
        this.segments.set(segment, 'updated');
        this.updates.push(segment);
        this.place();
        return { ...NO_UPDATE, segment, new: 2, modified: 1, meanDistance: segment.endsWith('a') ? 4 : 8 };
      },
      fetched: async (_, counts) => {
        counts.fetched += 3;
        return { urls: 3, createdAt: 100 };
      },
      keep: async (round) => void this.rounds.push(round),
    };
    const perform = roundJobs({
      engine: {
        put: async (job, after) => {
          this.place();
          await engine.put(job, after);
          this.place();
        },
      },
      withSteps: (use) => use(steps),
      fetchAndParse: async (segment) => {
        this.place();
        if (this.segments.get(segment) === 'generated') this.segments.set(segment, 'fetched');
        this.fetches.push(segment);
        this.place();
        return 0;
      },
      pause: async () => this.place(),
      now: () => 1_100,
      cpuMs: () => 0,
    });
    return perform;
  }

  async run(): Promise<void> {
    const engine = createMemoryJobEngine();
    await engine.put(FIRST_JOB);
    const stop = new AbortController();
    const perform = this.perform(engine);
    // A job whose worker dies goes to another one.
    const survived = (job: Job, signal: AbortSignal): Promise<JobEnd> =>
      perform(job, signal).catch((error: Error) => {
        if (error.message !== DEATH) throw error;
        return { laterMs: 0 };
      });
    const working = engine.work(survived, { atOnce: 2, signal: stop.signal });
    while ((await engine.state()).open > 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await working;
    expect((await engine.state()).failed).toEqual([]);
  }
}

const ALL = ['1a', '1b', '2a', '2b', '3a', '3b'];

describe('the loop as jobs', () => {
  it('runs rounds until nothing is due, and reports each round once, its parts together', async () => {
    const crawl = new Crawl([]);
    await crawl.run();
    expect([...crawl.fetches].sort()).toEqual(ALL);
    expect(crawl.updates).toEqual(ALL);
    expect(crawl.rounds).toHaveLength(3);
    expect(crawl.rounds[0]).toMatchObject({ round: 1, segment: '1a', generated: 6, fetched: 6, new: 4, modified: 2 });
    expect(crawl.rounds[0]).toMatchObject({ meanDistance: 6, ms: 1_000 });
    expect(crawl.places).toBeGreaterThan(30);
  });

  it('may be cut short at any place, and continues from there', async () => {
    const whole = new Crawl([]);
    await whole.run();
    for (let death = 0; death < whole.places; death++) {
      const crawl = new Crawl([death]);
      await crawl.run();
      expect([...crawl.segments.values()], `killed at place ${death}`).toEqual(ALL.map(() => 'updated'));
      // Nothing is applied twice, nor left out.
      expect([...crawl.updates].sort(), `killed at place ${death}`).toEqual(ALL);
    }
  });

  it.each([7, 8, 9, 10, 11, 12])('may be cut short again and again (every %i places)', async (every) => {
    const crawl = new Crawl(Array.from({ length: 20 }, (_, i) => (i + 1) * every));
    await crawl.run();
    expect([...crawl.updates].sort()).toEqual(ALL);
  });

  const job: Job = { id: 'fetch-1', kind: 'fetch', segments: ['1'] };
  const fetching = (fetchAndParse: () => Promise<number>) =>
    roundJobs({
      engine: { put: async () => {} },
      withSteps: async () => [],
      fetchAndParse,
      pause: async () => {},
      now: () => 0,
      cpuMs: () => 0,
    });
  const running = new AbortController().signal;

  it.each(['db-locked', 'lease-lost', 'redis-unreachable'] as const)(
    'a job that meets another writer, or no server, is taken up later (%s)',
    async (code) => {
      const perform = fetching(async () => {
        throw new CrawlError(code, 'another process holds it');
      });
      expect(await perform(job, running)).toEqual({ laterMs: expect.any(Number) });
    },
  );

  it('other faults are reported, except by a worker that is stopping', async () => {
    const perform = fetching(async () => {
      throw new CrawlError('disk-full', 'no space left');
    });
    await expect(perform(job, running)).rejects.toMatchObject({ code: 'disk-full' });
    expect(await perform(job, AbortSignal.abort())).toEqual({ laterMs: 0 });
  });

  it('a part that was stopped half way is given back; one that ran out of time is not', async () => {
    const perform = fetching(async () => 5);
    expect(await perform(job, AbortSignal.abort())).toEqual({ laterMs: 0 });
    expect(await perform(job, running)).toBe('done');
  });
});
