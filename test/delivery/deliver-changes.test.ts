import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Delivery, WebhookCursor } from '../../src/core/ports/change-feed.ts';
import { deliverChanges } from '../../src/delivery/changes/deliver-changes.ts';

const taken: Delivery = { isTaken: true, status: 200 };
const refused = (status: number | null, retryAfterMs: number | null = null): Delivery => ({
  isTaken: false,
  status,
  reason: `status ${status}`,
  retryAfterMs,
  isFinal: status === 410,
});

/** A receiver that answers by a script, then takes everything. */
function receiver(script: readonly Delivery[]) {
  const bodies: { id: string; seqs: number[]; missed: number }[] = [];
  const pauses: number[] = [];
  const saved: number[] = [];
  const begun: WebhookCursor[] = [];
  let turn = 0;
  const deps = {
    webhook: {
      deliver: async ({ id, body }: { id: string; body: string }) => {
        const { data } = JSON.parse(body) as { data: { missed: number; changes: { seq: number }[] } };
        bodies.push({ id, seqs: data.changes.map(({ seq }) => seq), missed: data.missed });
        return script[turn++] ?? taken;
      },
    },
    begin: async (next: WebhookCursor) => {
      begun.push(next);
    },
    now: () => 1_800_000_000_000,
    random: () => 1,
    sleep: async (ms: number) => {
      pauses.push(ms);
    },
    onRetry: () => {},
  };
  const save = async ({ seq }: WebhookCursor): Promise<void> => {
    saved.push(seq as number);
  };
  return { deps, save, bodies, pauses, saved, begun };
}

const entries = (...seqs: number[]) => seqs.map((seq) => ({ seq }));
const cursor = { source: 's', seq: 0 };
const never = new AbortController().signal;

describe('delivery to a webhook', () => {
  it('in messages of a bounded size, the cursor saved after each', async () => {
    const { deps, save, bodies, saved, pauses } = receiver([]);
    const window = { changes: entries(1, 2, 5, 6, 9), through: 12, missed: 3 };
    const summary = await deliverChanges(deps, window, cursor, save, { batch: 2, retries: 0 }, never);
    expect(summary).toEqual({ delivered: 5, messages: 3, attempts: 3, failed: null });
    expect(bodies).toEqual([
      { id: 's_1_2', seqs: [1, 2], missed: 3 },
      { id: 's_5_6', seqs: [5, 6], missed: 0 },
      { id: 's_9_9', seqs: [9], missed: 0 },
    ]);
    expect(saved).toEqual([2, 6, 9, 12]);
    expect(pauses).toEqual([]);
  });

  it('omits filtered entries, but moves the cursor', async () => {
    const { deps, save, bodies, saved } = receiver([]);
    await deliverChanges(deps, { changes: [], through: 7, missed: 0 }, cursor, save, { batch: 2, retries: 0 }, never);
    expect([bodies, saved]).toEqual([[], [7]]);
    await deliverChanges(deps, { changes: [], through: 0, missed: 0 }, cursor, save, { batch: 2, retries: 0 }, never);
    expect(saved).toEqual([7]);
  });

  it('repeats with growing pauses until it is accepted, under the same id', async () => {
    const { deps, save, bodies, pauses } = receiver([refused(500), refused(null), refused(503, 60_000), refused(500)]);
    const window = { changes: entries(1), through: 1, missed: 0 };
    const summary = await deliverChanges(deps, window, cursor, save, { batch: 9, retries: 4 }, never);
    expect(summary).toMatchObject({ delivered: 1, attempts: 5, failed: null });
    expect(new Set(bodies.map(({ id }) => id))).toEqual(new Set(['s_1_1']));
    expect(pauses).toEqual([1_000, 2_000, 60_000, 8_000]);
  });

  it('is repeated unchanged by a later run, under the same id, although entries were added', async () => {
    const options = { batch: 4, retries: 0 };
    const { deps, save, bodies, begun } = receiver([refused(null)]);
    await deliverChanges(deps, { changes: entries(1, 3), through: 3, missed: 0 }, cursor, save, options, never);
    expect(begun).toEqual([{ source: 's', seq: 0, begun: 3 }]);
    const window = { changes: entries(1, 3, 4, 6), through: 6, missed: 0 };
    await deliverChanges(deps, window, begun[0]!, save, options, never);
    expect(bodies.map(({ id }) => id)).toEqual(['s_1_3', 's_1_3', 's_4_6']);
    expect(begun.slice(1)).toEqual([{ source: 's', seq: 3, begun: 6 }]);
  });

  it('of several partitions has a cursor of each, and is repeated unchanged though entries came among its own', async () => {
    const options = { batch: 3, retries: 0 };
    const { deps, save, bodies, saved, begun } = receiver([refused(null)]);
    const of = (partition: string, seq: number) => ({ partition, seq });
    const first = [of('001', 4), of('000', 1), of('001', 5), of('000', 2)];
    const none = { source: 's', seq: [0, 3, 0] };
    await deliverChanges(deps, { changes: first, through: [2, 5, 0], missed: 0 }, none, save, options, never);
    expect([begun, saved]).toEqual([[{ source: 's', seq: [0, 3, 0], begun: [1, 5, 0] }], []]);
    const later = [of('002', 1), of('001', 4), of('002', 2), of('000', 1), of('001', 5), of('000', 2)];
    const window = { changes: later, through: [2, 9, 2], missed: 0 };
    await deliverChanges(deps, window, begun[0]!, save, options, never);
    expect(bodies.map(({ id, seqs }) => [id, seqs])).toEqual([
      ['s_001-4_001-5', [4, 1, 5]],
      ['s_001-4_001-5', [4, 1, 5]],
      ['s_002-1_000-2', [1, 2, 2]],
    ]);
    expect(saved).toEqual([
      [1, 5, 0],
      [2, 5, 2],
      [2, 9, 2],
    ]);
  });

  it('never with a pause beyond five minutes, whatever the receiver asks for', async () => {
    const { deps, save, pauses } = receiver([refused(503, 1e12), ...Array.from({ length: 40 }, () => refused(500))]);
    const window = { changes: entries(1), through: 1, missed: 0 };
    await deliverChanges(deps, window, cursor, save, { batch: 9, retries: Number.POSITIVE_INFINITY }, never);
    expect(Math.max(...pauses)).toBe(300_000);
    expect(pauses).toHaveLength(41);
  });

  it('ends after the retries, and at once when it is refused for good', async () => {
    const { deps, save, saved } = receiver([taken, refused(500), refused(500)]);
    const window = { changes: entries(1, 2), through: 2, missed: 0 };
    const summary = await deliverChanges(deps, window, cursor, save, { batch: 1, retries: 1 }, never);
    expect(summary).toEqual({
      delivered: 1,
      messages: 1,
      attempts: 3,
      failed: { status: 500, reason: 'status 500', isFinal: false },
    });
    expect(saved).toEqual([1]);
    const gone = receiver([refused(410)]);
    const ended = await deliverChanges(gone.deps, window, cursor, gone.save, { batch: 1, retries: 9 }, never);
    expect(ended).toMatchObject({ attempts: 1, failed: { isFinal: true } });
  });

  it('each entry at least once and in order, whatever fails, when every run begins at the cursor', async () => {
    const answer = fc.constantFrom(taken, refused(500), refused(null));
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (script, batch) => {
        const all = entries(1, 2, 3, 5, 8, 13);
        const { deps, save, bodies, saved } = receiver(script);
        for (let run = 0; run < 40; run++) {
          const seq = saved.at(-1) ?? 0;
          const window = { changes: all.filter((each) => each.seq > seq), through: 15, missed: 0 };
          await deliverChanges(deps, window, { ...cursor, seq }, save, { batch, retries: 1 }, never);
        }
        expect(saved.at(-1)).toBe(15);
        expect([...saved].sort((a, b) => a - b)).toEqual(saved);
        expect([...new Set(bodies.flatMap(({ seqs }) => seqs))]).toEqual([1, 2, 3, 5, 8, 13]);
      }),
      { numRuns: 50 },
    );
  });
});
