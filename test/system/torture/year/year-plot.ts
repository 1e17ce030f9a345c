import { type Axis, linePlot } from '../../../../bench/harness/line-plot.ts';
import type { DaySample, WeekSample } from './year-samples.ts';

const MB = 2 ** 20;
const TICKS = 4;

/** Memory, disk, what is open and how much is fresh, by days. */
export function yearPlots(days: readonly DaySample[], weeks: readonly WeekSample[]): string[] {
  const x = axis(days.at(-1)?.day ?? 1, (day) => `day ${Math.round(day)}`);
  const plot = (
    caption: string,
    curves: readonly (readonly [label: string, colour: string, points: readonly (readonly [number, number])[]])[],
  ): string => {
    const most = Math.max(...curves.flatMap(([, , points]) => points.map(([, value]) => value)), 1);
    const drawn = curves.map(([label, colour, points]) => ({ label, colour, points }));
    return linePlot({ caption, x, y: axis(most, (at) => String(Math.round(at))), curves: drawn });
  };
  const byDay = (value: (sample: DaySample) => number) => days.map((each) => [each.day, value(each)] as const);
  const byWeek = (value: (sample: WeekSample) => number) => weeks.map((each) => [each.day, value(each)] as const);
  return [
    plot('Memory of the process and size of the state directory, MB', [
      ['memory without mapped files', '#06c', byDay(({ anonymous }) => anonymous / MB)],
      ['state directory', '#c60', byDay(({ bytes }) => bytes / MB)],
    ]),
    plot('What is open, and what lies in the state directory', [
      ['descriptors', '#06c', byDay(({ descriptors }) => descriptors)],
      ['segments', '#0a7', byDay(({ segments }) => segments)],
      ['other files', '#c60', byDay(({ files }) => files)],
    ]),
    plot('Pages that are fresh, %', [['', '#0a7', byWeek(({ fresh }) => 100 * fresh)]]),
    plot('Requests a day, and entries of the feed', [
      ['requests', '#06c', byDay(({ requests }) => requests)],
      ['entries of the feed', '#c60', byWeek(({ changes }) => changes)],
    ]),
  ];
}

function axis(most: number, label: (at: number) => string): Axis {
  return {
    ticks: Array.from({ length: TICKS + 1 }, (_, i) => ({ at: (i * most) / TICKS, label: label((i * most) / TICKS) })),
  };
}
