import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { urlKey } from '../../../src/core/domain/url/canonical/url-key.ts';
import {
  type DuePlace,
  dueKey,
  dueNewRange,
  dueOfGroupKey,
  dueOfGroupRange,
  dueRange,
  hostKey,
  hostOfKey,
  leaseKey,
  linksKey,
  parseDueKey,
  parseDueOfGroupKey,
  ROW,
  recordKey,
  rowRange,
  timeKey,
  urlKeyOfDue,
  urlOfRow,
} from '../../../src/store/rows/codecs/keys.ts';

const URL_A = 'https://a.example:8443/b?c';
const KEY = urlKey(URL_A);
const NOW = 1_780_000_000_000;
const LAST_TIME = 2 ** 48 - 1;
const isIn = (key: string, { from, to }: { from: string; to: string }): boolean => key >= from && key < to;
const sign = (difference: number): number => Math.sign(difference);
const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const time = fc.integer({ min: 0, max: LAST_TIME });
const score = fc.oneof(fc.constantFrom(0, 0.5, 1, 2, 1e6), fc.double({ min: 1e-3, max: 1e9, noNaN: true }));
const known = (dueAt: number): DuePlace => ({ dueAt, isNew: false, score: 1 });
const fresh = (dueAt: number, of = 1): DuePlace => ({ dueAt, isNew: true, score: of });

describe('the text of a time', () => {
  it.each([
    [0, '000000000000'],
    [1, '000000000001'],
    [255, '0000000000ff'],
    [NOW, '019e70448800'],
    [LAST_TIME, 'ffffffffffff'],
    [LAST_TIME + 1, 'ffffffffffff'],
    [-1, '000000000000'],
    [0.001, '000000000001'],
  ])('%d is %s', (at, text) => expect(timeKey(at)).toBe(text));

  it('sorts as times do, also one after another', () => {
    fc.assert(fc.property(time, time, (a, b) => inOrder(timeKey(a), timeKey(b)) === sign(a - b)));
  });
});

describe('the due index', () => {
  it('has known pages by their time, and each says its URL and time', () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        const key = dueKey(known(a), KEY);
        expect(key).toBe(`d${timeKey(a)}${KEY}`);
        expect(parseDueKey(key)).toEqual({ url: URL_A, dueAt: a });
        expect(urlKeyOfDue(key)).toBe(KEY);
        expect(isIn(key, dueRange(b))).toBe(a <= b);
        expect(isIn(dueKey(fresh(a), KEY), dueRange(b))).toBe(false);
      }),
    );
    for (const until of [LAST_TIME, LAST_TIME + 1, Number.POSITIVE_INFINITY])
      expect(isIn(dueKey(known(LAST_TIME), KEY), dueRange(until))).toBe(true);
    // Fractions of `until` do not reach into the next millisecond.
    expect(isIn(dueKey(known(NOW + 1), KEY), dueRange(NOW + 0.9))).toBe(false);
  });

  it('has new URLs by their score, the highest first, then by their time', () => {
    fc.assert(
      fc.property(score, score, time, (a, b, at) => {
        const key = dueKey(fresh(at, a), KEY);
        expect(key.startsWith('e')).toBe(true);
        expect(parseDueKey(key)).toEqual({ url: URL_A, dueAt: at });
        expect(urlKeyOfDue(key)).toBe(KEY);
        const [first, second] = [key, dueKey(fresh(at, b), KEY)];
        // Scores keep 37 bits of their fraction.
        if (Math.abs(a - b) > 1e-9 * Math.max(a, b)) expect(inOrder(first, second)).toBe(sign(b - a));
        else if (a === b) expect(first).toBe(second);
        expect(isIn(key, dueNewRange())).toBe(true);
        expect(isIn(key, dueNewRange(a))).toBe(false);
        if (a < b * (1 - 1e-9)) expect(isIn(key, dueNewRange(b))).toBe(true);
        if (a > b) expect(isIn(key, dueNewRange(b))).toBe(false);
        expect(isIn(dueKey(known(at), KEY), dueNewRange())).toBe(false);
      }),
    );
    expect(dueKey(fresh(NOW, -1), KEY)).toBe(dueKey(fresh(NOW, 0), KEY));
    expect(inOrder(dueKey(fresh(1), KEY), dueKey(fresh(2), KEY))).toBe(-1);
  });

  it('is what tables hold: these keys never change', () => {
    expect([0, 0.5, 1, 3.25].map((each) => dueKey(fresh(NOW, each), 'k'))).toEqual([
      'effffffffffff019e70448800k',
      'ec01fffffffff019e70448800k',
      'ec00fffffffff019e70448800k',
      'ebff5ffffffff019e70448800k',
    ]);
    expect(dueOfGroupKey(KEY, 10, NOW)).toBe(`rexample.a.:8443:0a019e70448800https/b?c`);
  });

  it('has the pages of a host by group and time, and each says its URL and time', () => {
    const group = fc.nat(255);
    fc.assert(
      fc.property(group, group, time, fc.nat(LAST_TIME - 1), (a, b, at, after) => {
        const key = dueOfGroupKey(KEY, a, at);
        expect(parseDueOfGroupKey(key)).toEqual({ urlKey: KEY, dueAt: at });
        expect(isIn(key, dueOfGroupRange('a.example:8443', b, after))).toBe(a === b && at > after);
        expect(isIn(key, dueOfGroupRange('a.example', a, after))).toBe(false);
      }),
    );
    expect(isIn(dueOfGroupKey(KEY, 1, NOW), dueOfGroupRange('a.example:8443', 1, NOW - 0.5))).toBe(true);
  });
});

describe('rows', () => {
  it.each([
    ['record', recordKey(URL_A), ROW.record],
    ['lease', leaseKey(URL_A), ROW.lease],
    ['links', linksKey(URL_A), ROW.links],
  ] as const)('of a URL: %s', (_name, key, kind) => {
    expect(key).toBe(kind + KEY);
    expect(urlOfRow(key)).toBe(URL_A);
    expect(isIn(key, rowRange(kind))).toBe(true);
    expect(isIn(key, rowRange(kind, { from: KEY, to: `${KEY}!` }))).toBe(true);
    expect(isIn(key, rowRange(kind, { from: `${KEY}!`, to: `${KEY}"` }))).toBe(false);
    for (const other of Object.values(ROW)) if (other !== kind) expect(isIn(key, rowRange(other))).toBe(false);
  });

  it.each(['a.example', 'a.example:8443', '127.0.0.1:80', '[::1]'])('of a host: %s', (host) => {
    expect(hostOfKey(hostKey(host))).toBe(host);
    expect(isIn(hostKey(host), rowRange(ROW.host))).toBe(true);
  });

  it('are of one kind by their letter', () => expect(new Set(Object.values(ROW)).size).toBe(Object.keys(ROW).length));
});
