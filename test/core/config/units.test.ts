import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../../src/core/config/units.ts';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['10m', 600_000],
    ['10min', 600_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['0.5s', 500],
    [' 5s ', 5_000],
    ['0', 0],
    [0, 0],
    [5, 5_000],
    ['1.5', 1_500],
  ])('%j is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', 's', '5 s', '-5s', '5x', '5s!', '1e3s', '5S', 'five', Number.NaN, -1, Infinity, '99999999999999w'])(
    '%j is refused',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  it('reads what it writes', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (ms) => parseDuration(formatDuration(ms)) === ms));
  });

  it('takes time in proportion to hostile input', () => {
    expect(parseDuration(`${'1'.repeat(100_000)}!`)).toBeUndefined();
    expect(parseDuration(`${'1s'.repeat(50_000)}!`)).toBeUndefined();
  });
});

describe('sizes', () => {
  it.each([
    ['2MiB', 2_097_152],
    ['2mib', 2_097_152],
    ['512 KiB', 524_288],
    ['1GiB', 1_073_741_824],
    ['500kB', 500_000],
    ['1.5MB', 1_500_000],
    ['100B', 100],
    [100, 100],
    ['0', 0],
  ])('%j is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', 'MiB', '-1MiB', '2M', '2 bananas', '1..5MB', Number.NaN])('%j is refused', (text) =>
    expect(parseSize(text)).toBeUndefined(),
  );

  it('reads what it writes', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (bytes) => parseSize(formatSize(bytes)) === bytes));
  });
});
