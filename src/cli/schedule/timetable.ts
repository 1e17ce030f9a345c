import { Cron } from 'croner';

/** The start times of runs. Pure. */
export interface Timetable {
  /** The first start after `after`, ms since the epoch; `null`: never again. */
  next(after: number): number | null;
  readonly text: string;
}

/** Throws an `Error` that says why the expression or the zone is invalid. */
export function cronTimetable(expression: string, zone: string | undefined): Timetable {
  if (zone !== undefined && !isTimeZone(zone)) {
    throw new Error(`"${zone}" is no time zone; expected a name of the IANA database, such as Europe/Stockholm or UTC`);
  }
  const cron = new Cron(expression, { paused: true, ...(zone === undefined ? {} : { timezone: zone }) });
  cron.nextRun(new Date(0));
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    text: `${expression}${zone === undefined ? '' : ` (${zone})`}`,
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The first start at once, further ones at a fixed distance from it. */
export function everyTimetable(everyMs: number, startedAt: number, text: string): Timetable {
  return {
    // `after` lies before the first start when the clock was set back.
    next: (after) => startedAt + (Math.floor((after - startedAt) / everyMs) + 1) * everyMs,
    text: `every ${text}`,
  };
}

/** Number of starts after `from` and up to `until`. */
export function missedStarts(timetable: Timetable, from: number, until: number): number {
  let missed = 0;
  for (let at = timetable.next(from); at !== null && at <= until && missed < 10_000; at = timetable.next(at)) missed++;
  return missed;
}
