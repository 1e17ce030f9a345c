import { describe, expect, it } from 'vitest';
import { cheapest, inTurn, median } from '../../bench/harness/cost.ts';
import { axisFromZero } from '../../bench/harness/line-plot.ts';
import { benchOf, readOptions, type Said, UsageError } from '../../bench/harness/measurement.ts';
import { changedShare } from '../../bench/harness/shingles.ts';

describe('options of a measurement', () => {
  const defaults = { pages: 5_000, real: false, without: '', sizes: [1, 10], data: [] as string[] };

  it('are numbers, texts, switches and lists by their defaults', () => {
    expect(readOptions([], defaults)).toEqual(defaults);
    const args = '--pages 20 --real --without a,b --sizes 3,4 --data x --data y'.split(' ');
    expect(readOptions(args, defaults)).toEqual({
      pages: 20,
      real: true,
      without: 'a,b',
      sizes: [3, 4],
      data: ['x', 'y'],
    });
  });

  it.each([
    ['--pages many', '--pages many: expected a number'],
    ['--sizes 1,b', '--sizes 1,b: expected numbers between commas'],
    ['--page 3', "Unknown option '--page'"],
  ])('%s is refused', (args, message) => {
    expect(() => readOptions(args.split(' '), defaults)).toThrow(UsageError);
    expect(() => readOptions(args.split(' '), defaults)).toThrow(message);
  });
});

describe('what a bench says', () => {
  it('a figure is judged by its aim and handed on, a table has even columns', () => {
    const [lines, figures]: [string[], Said[]] = [[], []];
    const bench = benchOf(
      (line) => lines.push(line),
      (figure) => figures.push(figure),
    );
    const note = bench.question('Two crawls');
    note('CPU a page', 2.34567, 'ms', '<= 2.1');
    note('pages', 5_000, '', '>= 5000');
    note('CPU a page', 5.5, 'ms', undefined, 'Scrapy');
    bench.table(
      ['kind', 'n'],
      [
        ['long one', '1'],
        ['b', '100'],
      ],
    );
    expect(lines).toEqual([
      'Two crawls',
      'FAIL  CPU a page: 2.346 ms (<= 2.1)',
      'PASS  pages: 5,000 (>= 5000)',
      '      Scrapy: CPU a page: 5.5 ms',
      'kind        n',
      'long one    1',
      'b         100',
    ]);
    expect(figures).toEqual([
      { question: 'Two crawls', metric: 'CPU a page', value: 2.34567, unit: 'ms', aim: '<= 2.1' },
      { question: 'Two crawls', metric: 'pages', value: 5_000, unit: '', aim: '>= 5000' },
      { question: 'Two crawls', metric: 'CPU a page', value: 5.5, unit: 'ms', program: 'Scrapy' },
    ]);
  });
});

describe('figures over runs', () => {
  it('the median lies between the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it('things take turns, and which comes first changes with the round', async () => {
    const order: string[] = [];
    const results = await inTurn(['a', 'b'], 2, (key, round) => {
      order.push(key);
      return `${key}${round}`;
    });
    expect(order).toEqual(['a', 'b', 'b', 'a']);
    expect([...results]).toEqual([
      ['a', ['a0', 'a1']],
      ['b', ['b0', 'b1']],
    ]);
  });

  it('the cheapest run is kept whole', async () => {
    const costs = [3, 1, 2].map((cpuMs, i) => ({ cpuMs, i }));
    expect(await cheapest(3, async () => costs.shift()!)).toEqual({ cpuMs: 1, i: 1 });
  });
});

it('a share of changed shingles counts those that only one text has', () => {
  expect(changedShare(['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd'])).toBe(0);
  // a b c; b c d of the first, a b c; b c e of the second.
  expect(changedShare(['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'e'])).toBeCloseTo(2 / 3, 10);
  expect(changedShare(['a'], ['b'])).toBe(1);
});

it('an axis goes from zero by round steps to beyond the largest value', () => {
  const ticksOf = (...values: number[]) =>
    axisFromZero([{ points: values.map((value, i) => [i, value] as const) }]).ticks.map(({ at }) => at);
  expect(ticksOf(9)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticksOf(0.3, 0.42)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
  expect(ticksOf(730)).toEqual([0, 200, 400, 600, 800]);
});
