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

const turnOf = (partition: number): Job => ({ id: `turn-${partition}`, partition });
const FIRST = turnOf(0);

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
      await one.put({ id: 'turn-255', partition: 255 });
      const seen: Job[] = [];
      await workOff([one], async (job) => {
        seen.push(job);
        return 'done';
      });
      expect(seen).toEqual([{ id: 'turn-255', partition: 255 }]);
      expect(await one.state()).toEqual({ open: 0, failed: [] });
    });

    it('gives so many at a time as are asked for', async () => {
      const one = await engine();
      for (let partition = 0; partition < 7; partition++) await one.put(turnOf(partition));
      expect((await one.state()).open).toBe(7);
      let running = 0;
      let most = 0;
      const perform = async (): Promise<JobEnd> => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 60));
        running--;
        return 'done';
      };
      expect(await workOff([one], perform, 3)).toHaveLength(7);
      expect(most).toBe(3);
    });

    it('does a job once that is put twice while it waits or runs, and again when it is put after its end', async () => {
      const one = await engine();
      for (const partition of [0, 0, 1, 1]) await one.put(turnOf(partition));
      const ended = await workOff([one], async (job) => {
        await one.put(job);
        return 'done';
      });
      expect([...ended].sort()).toEqual(['turn-0', 'turn-1']);
      await one.put(FIRST);
      expect(await workOff([one], async () => 'done')).toEqual(['turn-0']);
    });

    it('a job that is given back is taken again', async () => {
      const one = await engine();
      await one.put(FIRST);
      let times = 0;
      await workOff([one], async () => (++times < 5 ? { laterMs: 1 } : 'done'));
      expect(times).toBe(5);
      expect((await one.state()).failed).toEqual([]);
    });

    it('a failing job is retried, then fails for good while others go on, until it is put again', async () => {
      const one = await engine();
      await one.put(turnOf(1));
      await one.put(turnOf(2));
      let tries = 0;
      const performed = await workOff([one], async ({ id }) => {
        if (id !== 'turn-1') return 'done';
        tries++;
        throw new Error('disk-full: no space left');
      });
      expect(performed).toEqual(['turn-2']);
      expect(tries).toBeGreaterThan(1);
      expect(await one.state()).toEqual({ open: 0, failed: [{ id: 'turn-1', reason: 'disk-full: no space left' }] });
      await one.put(turnOf(1));
      expect(await workOff([one], async () => 'done')).toEqual(['turn-1']);
      await one.forgetEnded();
      expect(await one.state()).toEqual({ open: 0, failed: [] });
    }, 20_000);

    it('aborts its jobs when it is to stop, and leaves released ones', async () => {
      const one = await engine();
      await one.put(FIRST);
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
      expect(await workOff([one], async () => 'done')).toEqual(['turn-0']);
    });

    if (isShared)
      it('several workers share the jobs, each of which is done once', async () => {
        const workers = [await engine(), await engine(), await engine()];
        const jobs = Array.from({ length: 13 }, (_, i) => turnOf(i + 100));
        await Promise.all(workers.flatMap((each) => jobs.map((job) => each.put(job))));
        const ended = await workOff(workers, async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          return 'done';
        });
        expect(ended).toHaveLength(13);
        expect(new Set(ended).size).toBe(13);
      });
  });
}
