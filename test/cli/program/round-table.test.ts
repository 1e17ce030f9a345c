import { expect, it } from 'vitest';
import { roundHeading, roundLines } from '../../../src/render/live/round-table.ts';

const round = {
  ...{ round: 12, generated: 98_765, fetched: 90_000, new: 45_678, modified: 23_456 },
  ...{
    notModified: 10_000,
    skippedByHeaders: 2_000,
    unchanged: 300,
    gone: 4_321,
    redirected: 567,
    followed: 0,
    failed: 89,
    partial: 0,
  },
  ...{ robotsDenied: 34, requests: 98_000, bytesReceived: 98_765_432_100, bodyBytes: 98_000_000_000 },
  ...{ outlinks: 900_000, newUrls: 654_321, duplicates: 987, restored: 1, ms: 5_432_100, cpuMs: 4_000_000 },
};

it.each([
  [Number.POSITIVE_INFINITY, 1],
  [105, 1],
  [104, 1],
  [80, 1],
  [79, 2],
  [40, 5],
])('a terminal of %d columns shows every number of a round whole', (width, lines) => {
  const shown = roundLines(round, width);
  expect(shown).toHaveLength(lines);
  for (const line of [...shown, roundHeading(width) ?? '']) expect(line.length).toBeLessThanOrEqual(width);
  const text = shown.join('\n');
  const unchanged = width < 105 ? ['12,300'] : ['10,000', '2,000', '300', '567', '34'];
  const always = ['12', '98,765', '45,678', '23,456', '4,321', '987', '89', '654,321', '92 GiB', '1.51 h'];
  for (const number of [...always, ...unchanged]) expect(text).toMatch(new RegExp(`(?:^|\\s)${number}(?:\\s|$)`, 'm'));
});

it('a resumed round, which selected no URLs, does not say that it had none', () => {
  expect(roundLines({ ...round, generated: 0, followed: 3 }, 102).join('\n')).toMatch(/^ +12 +- +45,678 /);
});

it('rounds are cards without a heading where the table does not fit', () => {
  expect([roundHeading(79), roundHeading(80)]).toEqual([null, expect.stringMatching(/^round .*unchanged.* time$/)]);
});

it('a number that is wider than its column makes its round a card', () => {
  const shown = roundLines({ ...round, generated: 1_234_567_890 }, 105);
  expect(shown.join('\n')).toMatch(/urls 1,234,567,890 new 45,678/);
  for (const line of shown) expect(line.length).toBeLessThanOrEqual(105);
});
