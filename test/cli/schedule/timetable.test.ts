import { describe, expect, it } from 'vitest';
import { cronTimetable, everyTimetable, missedStarts } from '../../../src/cli/schedule/run-schedule.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

describe('timetables', () => {
  it('cron: the next start after a time, in a zone', () => {
    const quarter = cronTimetable('*/15 * * * *', 'UTC');
    expect(iso(quarter.next(at('2026-03-01T10:07:00Z')))).toBe('2026-03-01T10:15:00.000Z');
    expect(iso(quarter.next(at('2026-03-01T10:15:00Z')))).toBe('2026-03-01T10:30:00.000Z');
    const nightly = cronTimetable('30 2 * * *', 'Europe/Berlin');
    expect(iso(nightly.next(at('2026-01-10T12:00:00Z')))).toBe('2026-01-11T01:30:00.000Z');
    expect(iso(nightly.next(at('2026-07-10T12:00:00Z')))).toBe('2026-07-11T00:30:00.000Z');
    // 02:30 does not exist on the night of the change: there is one run all the same, not none.
    const spring = nightly.next(at('2026-03-28T12:00:00Z')) ?? 0;
    expect(spring).toBeGreaterThan(at('2026-03-29T00:00:00Z'));
    expect(spring).toBeLessThan(at('2026-03-29T03:00:00Z'));
  });

  it('cron: an end', () => {
    expect(cronTimetable('0 0 0 1 1 * 2020', 'UTC').next(at('2026-01-01T00:00:00Z'))).toBeNull();
  });

  it.each(['*/15 * *', '61 * * * *', 'now', ''])('cron: refuses "%s"', (expression) => {
    expect(() => cronTimetable(expression, 'UTC')).toThrow();
  });

  it('cron: refuses a zone that is none', () => {
    expect(() => cronTimetable('* * * * *', 'Europe/Nowhere')).toThrow(
      /^"Europe\/Nowhere" is no time zone; expected a name of the IANA database, such as Europe\/Stockholm or UTC$/,
    );
  });

  it('every: at once, then at fixed distances', () => {
    const table = everyTimetable(60_000, 5_000, '1m');
    expect([4_999, 5_000, 64_999, 65_000].map((after) => table.next(after))).toEqual([5_000, 65_000, 65_000, 125_000]);
  });

  it('every: goes on in the same distances where the clock was set back before the first start', () => {
    const table = everyTimetable(60_000, 5_000, '1m');
    expect(table.next(5_000 - 600_000)).toBe(5_000 - 540_000);
  });

  it('counts the starts that fell into a run', () => {
    const table = everyTimetable(60_000, 0, '1m');
    expect(missedStarts(table, 60_000, 119_999)).toBe(0);
    expect(missedStarts(table, 60_000, 240_000)).toBe(3);
  });
});
