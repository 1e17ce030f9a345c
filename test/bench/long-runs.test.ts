import { describe, expect, it } from 'vitest';
import {
  type LongRuns,
  longRunFigures,
  longRunsText,
  NO_RUNS,
  openFailures,
  parseLongRuns,
  partOf,
  sumsOf,
  withAdded,
} from '../../bench/harness/long-runs.ts';

const machine = { cores: 2, memory: 24, node: '20.20.2' };
const FIRST = { commit: 'abcdef01', date: '2026-11-28', machine };
const LATER = { commit: 'abcdef02', date: '2026-11-30', machine };
const failure = { replay: 'npm run torture -- --kills --count 1 --seed 3', reason: 'it did not end' };

function twoPieces(): LongRuns {
  const one = withAdded(NO_RUNS, 'kills', { next: { kills: 4 }, sums: { kills: 3, attempts: 3 } }, FIRST);
  return withAdded(one, 'kills', { next: { kills: 9 }, sums: { kills: 4, attempts: 5 }, failures: [failure] }, LATER);
}

describe('pieces of long runs', () => {
  it('add up by part, and go on behind the last number of each series', () => {
    const kills = partOf(twoPieces(), 'kills');
    expect(kills.next).toEqual({ kills: 9 });
    expect(sumsOf(kills)).toEqual({ kills: 7, attempts: 8 });
    expect(kills.work.map(({ commit, sums }) => [commit, sums.kills])).toEqual([
      ['abcdef01', 3],
      ['abcdef02', 4],
    ]);
  });

  it('of one commit and machine are one line, from the first day to the last', () => {
    const one = withAdded(NO_RUNS, 'fuzz', { sums: { inputs: 10 }, peaks: { url: 7, rows: 3 } }, FIRST);
    const { work } = partOf(
      withAdded(one, 'fuzz', { sums: { inputs: 5 }, peaks: { url: 4, rows: 8 } }, { ...FIRST, date: '2026-12-01' }),
      'fuzz',
    );
    expect(work).toEqual([
      {
        commit: 'abcdef01',
        from: '2026-11-28',
        to: '2026-12-01',
        machine,
        sums: { inputs: 15 },
        peaks: { url: 7, rows: 8 },
      },
    ]);
  });

  it('never go back to a number that was tried, and keep other parts and series', () => {
    const one = withAdded(twoPieces(), 'fuzz', { next: { url: 500, rows: 20 } }, FIRST);
    const two = withAdded(one, 'fuzz', { next: { url: 300, robots: 2 } }, LATER);
    expect(partOf(two, 'fuzz').next).toEqual({ url: 500, rows: 20, robots: 2 });
    expect(partOf(two, 'kills')).toEqual(partOf(twoPieces(), 'kills'));
  });

  it('end a series once', () => {
    const one = withAdded(NO_RUNS, 'faults', { complete: ['open EIO'] }, FIRST);
    expect(partOf(withAdded(one, 'faults', { complete: ['open EIO', 'read EIO'] }, FIRST), 'faults').complete).toEqual([
      'open EIO',
      'read EIO',
    ]);
  });

  it('keep failures with their replay and commit, until one is marked as mended', () => {
    const { failures } = partOf(twoPieces(), 'kills');
    expect(failures).toEqual([{ ...failure, commit: 'abcdef02', date: '2026-11-30' }]);
    const mended = { ...partOf(twoPieces(), 'kills'), failures: [{ ...failures[0]!, mended: 'abcdef03' }] };
    expect(openFailures(mended)).toEqual([]);
  });
});

describe('the file of long runs', () => {
  it('is read as it was written', () => {
    const runs = withAdded(twoPieces(), 'fuzz', { next: { url: 2 }, sums: { inputs: 1 }, peaks: { url: 3 } }, FIRST);
    expect(parseLongRuns(longRunsText(runs), 'x.json')).toEqual(runs);
    expect(parseLongRuns(longRunsText(NO_RUNS), 'x.json')).toEqual(NO_RUNS);
  });

  it.each([
    ['torn', longRunsText(twoPieces()).slice(0, -20), 'x.json: expected JSON with "format": "incrawl long runs 1"'],
    ['of something else', '{"area":"torture","figures":[]}', 'x.json: expected sums of long runs'],
    ['of a later format', longRunsText(NO_RUNS).replace('runs 1', 'runs 2'), 'format: Invalid input'],
    ['with a part that is unknown', longRunsText(twoPieces()).replace('"kills": {', '"deaths": {'), 'parts'],
    ['with half a number', longRunsText(twoPieces()).replace('{"kills":9}', '{"kills":8.5}'), 'parts.kills.next.kills'],
    ['with a negative sum', longRunsText(twoPieces()).replace('"attempts":3', '"attempts":-3'), 'work.0.sums.attempts'],
    ['with a field too many', longRunsText(twoPieces()).replace('"next"', '"more": 1, "next"'), 'more'],
  ])('%s is refused by what was expected', (_, text, message) =>
    expect(() => parseLongRuns(text, 'x.json')).toThrow(message),
  );
});

describe('figures of long runs', () => {
  it('are a row for each part that was tried, with its sum and aim, and one for open failures', () => {
    const figures = longRunFigures(
      withAdded(twoPieces(), 'fuzz', { next: { url: 8, rows: 4 }, sums: { inputs: 10, counted: 2 } }, FIRST),
    );
    expect(figures.map(({ metric, value, aim, commit }) => [metric, value, aim, commit])).toEqual([
      ['inputs: url 7, rows 3; steps counted of 2', 10, '>= 10000000', 'abcdef01'],
      ['kills, of 8 attempts', 7, '>= 1000', 'abcdef02'],
      ['failures of these that are not mended', 1, '= 0', 'abcdef02'],
    ]);
  });

  it('say which failing calls are left', () => {
    const runs = withAdded(NO_RUNS, 'faults', { complete: ['open EIO', 'read EIO'], sums: { calls: 40 } }, FIRST);
    expect(longRunFigures(runs)[0]).toMatchObject({ value: 12, unit: 'kinds', aim: '= 0' });
  });

  it('are none before the first piece', () => expect(longRunFigures(NO_RUNS)).toEqual([]));
});
