import { testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const DAY = 86_400_000;

it('keeps its contract', async () => {
  const schedule = await testPlugin(plugin);
  expect(schedule.name).toBe('freshness');
});

it('takes a likelihood table of its own', async () => {
  const visit = {
    now: 40 * DAY,
    elapsedMs: 10 * DAY,
    outcome: 'modified',
    evidence: 'distance',
    distance: 1,
    changedAt: 40 * DAY,
    lastModifiedAt: null,
  } as const;
  const memory = { intervalMs: 10 * DAY, belief: null };
  const rateAfter = async (options: Record<string, unknown>): Promise<number> => {
    const { belief } = (await testPlugin(plugin, { options })).onVisit(memory, visit).memory;
    return belief?.changes ?? 0;
  };
  expect(await rateAfter({ likelihoodRatios: [0.01, 0.01, 50] })).toBeLessThan(await rateAfter({}));
});
