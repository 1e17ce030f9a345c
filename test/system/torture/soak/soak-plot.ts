import { type Axis, linePlot } from '../../../../bench/harness/line-plot.ts';
import type { Sample, Series } from './samples.ts';

const MB = 1024 ** 2;
const isBytes = (series: Series): boolean => ['rss', 'anonymous', 'heap', 'threads'].includes(series);

export const brief = (series: Series, value: number): string =>
  isBytes(series) ? `${(value / MB).toFixed(1)} MB` : String(Math.round(value));

/** Memory, and what is open, by minutes. */
export function soakPlots(samples: readonly Sample[], hosts: number): string[] {
  const minutes = (at: number): number => at / 60_000;
  const last = minutes(samples.at(-1)?.at ?? 0);
  const x = axis(last, (at) => `${Number(at.toPrecision(2))} min`);
  const plot = (caption: string, drawn: readonly (readonly [Series, string, string])[], unit: number): string => {
    const curves = drawn.map(([series, label, colour]) => ({
      label,
      colour,
      points: samples.map((sample) => [minutes(sample.at), sample[series] / unit] as const),
    }));
    const most = Math.max(...curves.flatMap(({ points }) => points.map(([, value]) => value)), 1);
    return linePlot({ caption, x, y: axis(most, (at) => String(Math.round(at))), curves });
  };
  return [
    plot(
      `Memory of the crawler over ${hosts} hosts, MB`,
      [
        ['rss', 'resident, with mapped tables', '#999'],
        ['anonymous', 'resident without them', '#06c'],
        ['heap', 'heap after a collection', '#0a7'],
        ['threads', 'heaps of worker threads', '#c60'],
      ],
      MB,
    ),
    plot(
      'What is open',
      [
        ['descriptors', 'descriptors', '#06c'],
        ['timers', 'timers', '#c60'],
        ['handles', 'handles', '#0a7'],
      ],
      1,
    ),
  ];
}

const TICKS = 4;

function axis(most: number, label: (at: number) => string): Axis {
  return {
    ticks: Array.from({ length: TICKS + 1 }, (_, i) => ({ at: (i * most) / TICKS, label: label((i * most) / TICKS) })),
  };
}
