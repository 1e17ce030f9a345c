import { describe, expect, it } from 'vitest';
import { totalsOf } from '../../../src/core/steps/round-summary.ts';
import type { CrawlProgress, RoundSummary } from '../../../src/crawler/index.ts';
import { MinuteLines } from '../../../src/render/live/live.ts';

const AT = Date.UTC(2026, 10, 26, 23, 5, 42);
const plain = (text: string): string => text;
const round = (more: Partial<RoundSummary>): RoundSummary =>
  ({ ...totalsOf([]), round: 1, segment: 's', meanDistance: null, ...more }) as RoundSummary;
const progress = { done: 12, urls: 1_234, pagesPerSecond: 3.25 } as CrawlProgress;

describe('the lines of a worker', () => {
  it('sum the rounds of a minute, with one heading, and say what is under way where none has ended', () => {
    const lines = new MinuteLines(200);
    expect(lines.take(AT, plain)).toEqual([]);
    lines.progress(progress);
    expect(lines.take(AT, plain)).toEqual(['23:05 12 of 1,234 URLs of rounds under way, 3.3 pages/s']);
    lines.progress(progress);
    lines.round(round({ generated: 7, new: 3 }));
    lines.round(round({ generated: 5, new: 1 }));
    const [heading, line, ...more] = lines.take(AT + 60_000, plain);
    expect(more).toEqual([]);
    expect(heading).toMatch(/^ {2}UTC +urls +new /);
    expect(line).toMatch(/^23:06 +12 +4 /);
    lines.round(round({ generated: 2, new: 2 }));
    expect(lines.take(AT + 120_000, plain)).toEqual([expect.stringMatching(/^23:07 +2 +2 /)]);
    expect(lines.take(AT + 180_000, plain)).toEqual([]);
  });

  it('are cards on a narrow terminal', () => {
    const lines = new MinuteLines(40);
    lines.round(round({ generated: 7, new: 3 }));
    const card = lines.take(AT, plain);
    expect(card.length).toBeGreaterThan(1);
    for (const line of card) expect(line.length).toBeLessThanOrEqual(40);
    expect(card[0]).toMatch(/^23:05 urls 7 new 3/);
  });
});
