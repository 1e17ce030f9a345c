import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Figure, isMissed, merged } from '../../bench/harness/results.ts';
import { pagesOf, plotsOf, reportedAreas } from '../../bench/report.ts';

const bench = resolve(import.meta.dirname, '../../bench');
const areas = reportedAreas(join(bench, 'results'));

describe('the pages of results', () => {
  it.each([...pagesOf(areas), ...plotsOf(areas)])(
    '%s is what the script makes of the figures (npm run bench:report)',
    (path, text) => expect(readFileSync(join(bench, path), 'utf8')).toBe(text),
  );

  it('are no others than those', () => {
    const pages = readdirSync(join(bench, 'results')).filter((name) => name.endsWith('.md'));
    expect(pages.map((name) => `results/${name}`).sort()).toEqual([...pagesOf(areas).keys()].slice(1).sort());
  });

  it('the first is one screen', () =>
    expect(readFileSync(join(bench, 'RESULTS.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(45));
});

describe.each(areas)('figures of $area', ({ figures, plots, notes }) => {
  it('have a value, a command, a date, a machine, and an aim that can be read', () => {
    for (const figure of figures) {
      expect([figure.value].flat().every(Number.isFinite), figure.metric).toBe(true);
      expect(figure.command, figure.metric).not.toBe('');
      expect(figure.date, figure.metric).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(figure.machine.cores, figure.metric).toBeGreaterThan(0);
      expect(['idle', 'busy'], figure.metric).toContain(figure.load);
      expect(() => isMissed(figure), figure.metric).not.toThrow();
    }
  });

  it('are one for each question, metric and program, together under their questions', () =>
    expect(merged(figures, [])).toEqual(figures));

  it('have their plots, and their notes a question', () => {
    expect(plots.filter(({ file }) => !existsSync(join(bench, 'plots', file)))).toEqual([]);
    const questions = new Set(figures.map(({ question }) => question));
    expect(Object.keys(notes).filter((question) => !questions.has(question))).toEqual([]);
  });
});

const figure: Figure = {
  question: 'one',
  metric: 'CPU',
  value: 1,
  unit: 'ms',
  command: 'npm run bench',
  date: '2026-11-27',
  machine: { cores: 2, node: '20.20.2' },
  load: 'idle',
  commit: 'abcdef01',
};

describe('new figures', () => {
  const other = { ...figure, question: 'two' };

  it('replace those of the same question, metric and program, at their place', () => {
    const again = { ...figure, value: 2, date: '2026-11-28' };
    expect(merged([figure, other], [again])).toEqual([again, other]);
  });

  it('of another metric or program come last in their question', () => {
    const peer = { ...figure, program: 'Scrapy' };
    const memory = { ...figure, metric: 'memory' };
    expect(merged([figure, other], [peer, memory])).toEqual([figure, peer, memory, other]);
  });
});

describe('an aim', () => {
  it.each<[value: Figure['value'], aim: string, missed: boolean]>([
    [2.1, '<= 2.1', false],
    [2.2, '<= 2.1', true],
    [95, '>= 95', false],
    [94.9, '>= 95', true],
    [0, '= 0', false],
    [1, '= 0', true],
    [[0.25, 0.37], '<= 0.3', true],
    [[0.25, 0.3], '<= 0.3', false],
  ])('of %s against %s is missed: %s', (value, aim, missed) => expect(isMissed({ value, aim })).toBe(missed));

  it('that cannot be read is refused', () =>
    expect(() => isMissed({ value: 1, aim: 'flat' })).toThrow('aim flat: expected <=, >= or = and a number'));
});
