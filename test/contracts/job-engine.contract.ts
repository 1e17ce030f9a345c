import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobEnd, JobEngine } from '../../src/ports/job-engine.ts';

export interface JobEngineUnderTest {
  /** An engine that shares its jobs with those opened before it in the same test. */
  open(): Promise<JobEngine>;
  /** Forgets all jobs. */
  reset(): void;
  /** False where an engine is one process's. */
  readonly isShared: boolean;
}

const fetchOf = (segment: string): Job => ({ id: `fetch-${segment}`, kind: 'fetch', segments: [segment] });
const updateOf = (...segments: string[]): Job => ({ id: `update-${segments[0]}`, kind: 'update', segments });
const START: Job = { id: 'generate', kind: 'generate', segments: [] };

/** Contract of every job engine. */
export function jobEngineContract(name: string, { open, reset, isShared }: JobEngineUnderTest): void {
  describe(`${name}: a job engine`, () => {
    let engines: JobEngine[] = [];
    const engine = async (): Promise<JobEngine> => {
      const opened = await open();
      engines.push(opened);
      return opened;
    };
    beforeEach(reset);
    afterEach(async () => {
      for (const each of engines) await each.close();
      engines = [];
    });

    /** Works until all jobs have ended; what was performed, in the order of the ends. */
    async function workOff(
      workers: readonly JobEngine[],
      perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
      atOnce = 1,
    ): Promise<string[]> {
      const ended: string[] = [];
      const stop = new AbortController();
      const noted = async (job: Job, signal: AbortSignal): Promise<JobEnd> => {
        const end = await perform(job, signal);
        ended.push(job.id);
        return end;
      };
      const working = Promise.all(workers.map((each) => each.work(noted, { atOnce, signal: stop.signal })));
      while ((await workers[0]!.state()).open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      stop.abort();
      await working;
      return ended;
    }

    it('gives a job as it was put', async () => {
      const one = await engine();
      await one.put({ id: 'update-1', kind: 'update', segments: ['1', '2'] });
      const seen: Job[] = [];
      await workOff([one], async (job) => {
        seen.push(job);
        return 'done';
      });
      expect(seen).toEqual([{ id: 'update-1', kind: 'update', segments: ['1', '2'] }]);
      expect(await one.state()).toEqual({ open: 0, failed: [] });
    });

    it('a job waits until all before it are done, whatever order they end in', async () => {
      const one = await engine();
      await one.put(updateOf('a', 'b', 'c'), ['a', 'b', 'c'].map(fetchOf));
      expect((await one.state()).open).toBe(4);
      const delays: Record<string, number> = { 'fetch-a': 60, 'fetch-b': 5, 'fetch-c': 30 };
      const ended = await workOff(
        [one],
        async ({ id }) => {
          await new Promise((resolve) => setTimeout(resolve, delays[id] ?? 0));
          return 'done';
        },
        3,
      );
      expect([...ended].sort()).toEqual(['fetch-a', 'fetch-b', 'fetch-c', 'update-a']);
      expect(ended.at(-1)).toBe('update-a');
    });

    it('does a job once that is put twice while it waits or runs, and again when it is put after its end', async () => {
      const one = await engine();
      await one.put(START);
      await one.put(START);
      await one.put(updateOf('a'), [fetchOf('a')]);
      await one.put(updateOf('a'), [fetchOf('a')]);
      const ended = await workOff([one], async (job) => {
        await one.put(job);
        return 'done';
      });
      expect([...ended].sort()).toEqual(['fetch-a', 'generate', 'update-a']);
      await one.put(START);
      // What came before it stays done.
      await one.put(updateOf('a'), [fetchOf('a'), fetchOf('b')]);
      expect((await workOff([one], async () => 'done')).sort()).toEqual(['fetch-b', 'generate', 'update-a']);
    });

    it('a job that is given back is taken again', async () => {
      const one = await engine();
      await one.put(START);
      let times = 0;
      await workOff([one], async () => (++times < 5 ? { laterMs: 1 } : 'done'));
      expect(times).toBe(5);
      expect((await one.state()).failed).toEqual([]);
    });

    it('a failing job is retried, then fails for good with those behind it, until it is put again', async () => {
      const one = await engine();
      await one.put(updateOf('a', 'b'), [fetchOf('a'), fetchOf('b')]);
      let tries = 0;
      const performed = await workOff([one], async ({ id }) => {
        if (id !== 'fetch-a') return 'done';
        tries++;
        throw new Error('disk-full: no space left');
      });
      expect(performed).toEqual(['fetch-b']);
      expect(tries).toBeGreaterThan(1);
      const { open: left, failed } = await one.state();
      expect(left).toBe(0);
      expect(failed.map(({ id }) => id).sort()).toEqual(['fetch-a', 'update-a']);
      expect(failed.find(({ id }) => id === 'fetch-a')?.reason).toBe('disk-full: no space left');
      await one.put(updateOf('a', 'b'), [fetchOf('a'), fetchOf('b')]);
      expect(await workOff([one], async () => 'done')).toEqual(['fetch-a', 'update-a']);
      await one.forgetEnded();
      expect(await one.state()).toEqual({ open: 0, failed: [] });
    }, 20_000);

    it('aborts its jobs when it is to stop, and leaves released ones', async () => {
      const one = await engine();
      await one.put(START);
      const stop = new AbortController();
      const working = one.work(
        async (_, signal) => {
          stop.abort();
          return signal.aborted ? { laterMs: 0 } : 'done';
        },
        { atOnce: 1, signal: stop.signal },
      );
      await working;
      expect((await one.state()).open).toBe(1);
      expect(await workOff([one], async () => 'done')).toEqual(['generate']);
    });

    it.skipIf(!isShared)(
      'several workers share the jobs, each of which is done once (not shared in memory)',
      async () => {
        const workers = [await engine(), await engine(), await engine()];
        const segments = Array.from({ length: 12 }, (_, i) => String(i + 100));
        await Promise.all(workers.map((each) => each.put(updateOf(...segments), segments.map(fetchOf))));
        const ended = await workOff(workers, async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          return 'done';
        });
        expect(ended).toHaveLength(13);
        expect(new Set(ended).size).toBe(13);
      },
    );
  });
}
