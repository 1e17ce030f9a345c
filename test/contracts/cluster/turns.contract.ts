import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TakenTurn, TURN_ATTEMPTS, type Turns } from '../../../src/cluster/ports/turns.ts';

export interface TurnsUnderTest {
  /** Turns of at least 16 partitions, shared with those opened before in the same test. */
  open(): Promise<Turns>;
  /** Forgets all turns. */
  reset(): void;
}

/** Contract of all turns. */
export function turnsContract(name: string, { open, reset }: TurnsUnderTest): void {
  describe(`${name}: turns of partitions`, () => {
    let all: Turns[] = [];
    const opened = async (): Promise<Turns> => {
      const turns = await open();
      all.push(turns);
      return turns;
    };
    beforeEach(reset);
    afterEach(async () => {
      for (const each of all) await each.close();
      all = [];
    });
    const partitionsOf = (turns: readonly TakenTurn[]): number[] => turns.map(({ partition }) => partition).sort();
    /** Takes one turn, waiting for it. */
    const taken = async (turns: Turns): Promise<TakenTurn> => {
      for (;;) {
        const [turn] = await turns.take(1);
        if (turn !== undefined) return turn;
        await turns.wait(20, new AbortController().signal);
      }
    };

    it('has none before one is wanted', async () => {
      const turns = await opened();
      expect(await turns.take(16)).toEqual([]);
      expect(await turns.state()).toEqual({ open: 0, nextMs: null, workers: 1, failed: [] });
      await turns.forgetFailed();
      await turns.want([]);
      expect((await turns.state()).open).toBe(0);
    });

    it('gives as many as are asked for, each once, those that wait longest first', async () => {
      const turns = await opened();
      for (const partition of [3, 15, 0]) await turns.want([partition]);
      await turns.want([3, 3]);
      expect(await turns.state()).toMatchObject({ open: 3, nextMs: 0 });
      expect(partitionsOf(await turns.take(2))).toEqual([15, 3]);
      expect(partitionsOf(await turns.take(16))).toEqual([0]);
      expect(await turns.take(16)).toEqual([]);
      expect((await turns.state()).open).toBe(3);
    });

    it('ends one, which may be wanted again', async () => {
      const turns = await opened();
      await turns.want([1]);
      await turns.end(await taken(turns), 'done');
      expect(await turns.state()).toEqual({ open: 0, nextMs: null, workers: 1, failed: [] });
      await turns.want([1]);
      expect(partitionsOf(await turns.take(1))).toEqual([1]);
    });

    it('gives one again that was wanted while it was played, whatever its end', async () => {
      const turns = await opened();
      await turns.want([1, 2]);
      for (const result of ['done', { laterMs: 3_600_000 }] as const) {
        const turn = await taken(turns);
        await turns.want([turn.partition]);
        await turns.end(turn, result);
      }
      expect(partitionsOf(await turns.take(2))).toEqual([1, 2]);
    });

    it('gives one that is to be played later no sooner, unless it is wanted', async () => {
      const turns = await opened();
      await turns.want([1, 2]);
      for (let i = 0; i < 2; i++) await turns.end(await taken(turns), { laterMs: 60_000 });
      expect(await turns.take(2)).toEqual([]);
      const { open: waiting, nextMs } = await turns.state();
      expect(waiting).toBe(2);
      expect(nextMs).toBeGreaterThan(30_000);
      expect(nextMs).toBeLessThanOrEqual(60_000);
      await turns.want([2]);
      expect(partitionsOf(await turns.take(2))).toEqual([2]);
    });

    it('tries one that fails again, then after a pause, which the crawl may end without; others go on', async () => {
      const turns = await opened();
      await turns.want([1]);
      for (let attempt = 1; attempt <= TURN_ATTEMPTS; attempt++) {
        expect((await turns.state()).failed).toEqual([]);
        await turns.fail(await taken(turns), `db-corrupt: attempt ${attempt}`);
      }
      const reason = `db-corrupt: attempt ${TURN_ATTEMPTS}`;
      const state = await turns.state();
      expect(state).toMatchObject({ open: 0, workers: 1, failed: [{ partition: 1, reason }] });
      expect(state.nextMs).toBeGreaterThan(30_000);
      expect(state.nextMs).toBeLessThanOrEqual(60_000);
      await turns.want([1, 2]);
      expect(partitionsOf(await turns.take(2))).toEqual([2]);
      await turns.forgetFailed();
      expect(await turns.state()).toMatchObject({ open: 2, failed: [] });
      expect(partitionsOf(await turns.take(2))).toEqual([1]);
    }, 20_000);

    it('one that cannot be played is tried later, and the attempts that failed before still count', async () => {
      const turns = await opened();
      await turns.want([1]);
      for (let i = 0; i < TURN_ATTEMPTS - 1; i++) await turns.fail(await taken(turns), 'internal: no');
      for (let i = 0; i < 5; i++) await turns.end(await taken(turns), { laterMs: 0, fault: 'disk-full: no space' });
      expect(await turns.state()).toMatchObject({ open: 1, failed: [] });
      await turns.fail(await taken(turns), 'internal: no');
      expect(await turns.state()).toMatchObject({ open: 0, failed: [{ partition: 1, reason: 'internal: no' }] });
    }, 20_000);

    it('counts the attempts anew after one that went well', async () => {
      const turns = await opened();
      await turns.want([1]);
      for (let i = 0; i < TURN_ATTEMPTS - 1; i++) await turns.fail(await taken(turns), 'internal: no');
      await turns.end(await taken(turns), { laterMs: 0 });
      await turns.fail(await taken(turns), 'internal: no');
      expect(await turns.state()).toMatchObject({ open: 1, failed: [] });
    }, 20_000);

    it('wakes who waits as soon as one is wanted', async () => {
      const [turns, other] = [await opened(), await opened()];
      const end = new AbortController();
      // The first wait connects.
      await turns.wait(200, end.signal);
      let isWoken = false;
      const waited = turns.wait(60_000, end.signal).then(() => {
        isWoken = true;
      });
      while (!isWoken) {
        await other.want([1]);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await waited;
      end.abort();
      await turns.wait(60_000, end.signal);
    }, 20_000);

    it('workers that take at the same moment get each turn once', async () => {
      const workers = [await opened(), await opened(), await opened()];
      const partitions = Array.from({ length: 16 }, (_, i) => i);
      await Promise.all(workers.map((each) => each.want(partitions)));
      const played: number[] = [];
      await Promise.all(
        workers.map(async (each) => {
          for (;;) {
            const turns = await each.take(2);
            if (turns.length === 0) return;
            for (const turn of turns) {
              played.push(turn.partition);
              await each.end(turn, 'done');
            }
          }
        }),
      );
      expect(played.sort((a, b) => a - b)).toEqual(partitions);
      expect((await workers[0]?.state())?.open).toBe(0);
    });
  });
}
