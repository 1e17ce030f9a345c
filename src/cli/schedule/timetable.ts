import { Cron } from 'croner';

/** When runs begin. Pure: asked with a time, it answers with the next one. */
export interface Timetable {
  /** The first start after `after`, ms since the epoch; `null`: never again. */
  next(after: number): number | null;
  readonly text: string;
}

/** Throws an `Error` that says what is wrong with the expression or the zone. */
export function cronTimetable(expression: string, zone: string | undefined): Timetable {
  const cron = new Cron(expression, { paused: true, ...(zone === undefined ? {} : { timezone: zone }) });
  // An unknown zone shows only when it is used.
  cron.nextRun(new Date(0));
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    text: `${expression}${zone === undefined ? '' : ` (${zone})`}`,
  };
}

/** At once, and then at fixed distances from the first start. */
export function everyTimetable(everyMs: number, startedAt: number, text: string): Timetable {
  return {
    // Also before the first start: that is where a clock that was set back may stand.
    next: (after) => startedAt + (Math.floor((after - startedAt) / everyMs) + 1) * everyMs,
    text: `every ${text}`,
  };
}

/** Starts that have passed while a run was going, `from` not counted. */
export function missedStarts(timetable: Timetable, from: number, until: number): number {
  let missed = 0;
  for (let at = timetable.next(from); at !== null && at <= until && missed < 10_000; at = timetable.next(at)) missed++;
  return missed;
}
