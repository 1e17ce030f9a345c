import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HostTurn, nextStartAt, quietUntil } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';

const idle: HostTurn = { lastEndAt: null, delayMs: 5000, running: 0, connections: 1, pausedUntil: null };

describe('nextStartAt', () => {
  it.each<[string, Partial<HostTurn>, number]>([
    ['a host never asked', {}, Number.NEGATIVE_INFINITY],
    ['after an end', { lastEndAt: 1000 }, 6000],
    ['no delay', { lastEndAt: 1000, delayMs: 0 }, 1000],
    ['all connections taken', { running: 1 }, Number.POSITIVE_INFINITY],
    ['a connection left', { running: 1, connections: 2 }, Number.NEGATIVE_INFINITY],
    ['a connection left, after an end', { running: 1, connections: 2, lastEndAt: 1000 }, 6000],
    ['a pause longer than the delay', { lastEndAt: 1000, pausedUntil: 9000 }, 9000],
    ['a pause shorter than the delay', { lastEndAt: 1000, pausedUntil: 2000 }, 6000],
    ['a pause of a host never asked', { pausedUntil: 2000 }, 2000],
    ['paused and busy', { pausedUntil: 2000, running: 1 }, Number.POSITIVE_INFINITY],
  ])('%s', (_name, change, expected) => {
    expect(nextStartAt({ ...idle, ...change })).toBe(expected);
  });

  it('never starts within the delay after an end, nor within a pause, nor beside more than the allowed number', () => {
    const turns = fc.record({
      lastEndAt: fc.option(fc.nat(), { nil: null }),
      delayMs: fc.nat(),
      running: fc.nat(4),
      connections: fc.integer({ min: 1, max: 4 }),
      pausedUntil: fc.option(fc.nat(), { nil: null }),
    });
    fc.assert(
      fc.property(turns, (turn) => {
        const at = nextStartAt(turn);
        expect(Number.isNaN(at)).toBe(false);
        if (turn.running >= turn.connections) expect(at).toBe(Number.POSITIVE_INFINITY);
        if (turn.lastEndAt !== null) expect(at - turn.lastEndAt).toBeGreaterThanOrEqual(turn.delayMs);
        if (turn.pausedUntil !== null) expect(at).toBeGreaterThanOrEqual(turn.pausedUntil);
        expect(at).toBeGreaterThanOrEqual(quietUntil(turn));
      }),
    );
  });
});
