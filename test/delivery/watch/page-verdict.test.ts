import { describe, expect, it } from 'vitest';
import {
  isReported,
  type PageNow,
  type PageSeen,
  pageVerdict,
  summaryOf,
  type WatchEvent,
} from '../../../src/delivery/watch/page-verdict.ts';

const URL = 'https://example.org/';
const THERE = { outcome: 'there', digest: 'a', finalUrl: URL } as const;
const GONE = { ...THERE, outcome: 'gone' } as const;
const UNREAD = { ...THERE, outcome: 'unread' } as const;

/** The kinds reported at a row of looks. */
function kindsOf(looks: readonly Omit<PageNow, 'visitedAt'>[]): (string | null)[] {
  let seen: PageSeen | null = null;
  return looks.map((look, i) => {
    const verdict = pageVerdict(seen, { ...look, visitedAt: `2026-03-0${i + 1}` });
    seen = verdict.seen;
    return verdict.kind;
  });
}

it.each<[string, Omit<PageNow, 'visitedAt'>[], (string | null)[]]>([
  ['a page that stays', [THERE, THERE], ['new', null]],
  ['another body', [THERE, { ...THERE, digest: 'b' }, { ...THERE, digest: 'b' }], ['new', 'modified', null]],
  ['another target', [THERE, { ...THERE, digest: 'b', finalUrl: `${URL}b` }], ['new', 'moved']],
  ['gone and back', [THERE, GONE, GONE, THERE], ['new', 'gone', null, 'back']],
  ['never there', [GONE, GONE, THERE], ['gone', null, 'back']],
  ['two failures', [THERE, UNREAD, UNREAD, THERE], ['new', null, null, null]],
  ['a change behind failures', [THERE, UNREAD, { ...THERE, digest: 'b' }], ['new', null, 'modified']],
  ['long failing', [THERE, UNREAD, UNREAD, UNREAD, UNREAD, THERE], ['new', null, null, 'failing', null, 'back']],
  ['failing from the first', [UNREAD, UNREAD, UNREAD, THERE], [null, null, 'failing', 'back']],
  ['late at first', [UNREAD, THERE], [null, 'new']],
  ['failing, then gone', [THERE, UNREAD, UNREAD, UNREAD, GONE], ['new', null, null, 'failing', 'gone']],
  ['gone, then failing', [THERE, GONE, UNREAD, UNREAD, UNREAD, UNREAD], ['new', 'gone', null, null, null, null]],
])('%s', (_name, looks, kinds) => expect(kindsOf(looks)).toEqual(kinds));

it('a visit that was seen before counts once', () => {
  const now: PageNow = { ...UNREAD, visitedAt: '2026-03-01' };
  const { seen } = pageVerdict(null, now);
  expect(pageVerdict(seen, now)).toEqual({ seen, kind: null });
});

const EVENT: WatchEvent = {
  ...{ seq: 1, kind: 'modified', url: URL, target: null, title: 'News', at: '2026-03-01T08:00:00.000Z' },
  ...{ distance: 12, select: [], missing: '', problem: null, places: [{ place: 'body>p', edits: [] }] },
};

describe('a modification is reported', () => {
  it.each<[string, Partial<WatchEvent>, boolean, boolean]>([
    ['by its distance', {}, false, true],
    ['not if it is small', { distance: 3 }, false, false],
    ['if it is small and any counts', { distance: 0 }, true, true],
    ['of a part, however small', { distance: 1, select: ['.price'] }, false, true],
    ['not without a difference of words', { places: [], distance: 9, select: ['.price'] }, true, false],
    ['without signatures', { distance: null }, false, true],
    ['if nothing could be compared', { places: null, distance: null }, false, true],
  ])('%s', (_name, more, any, is) => expect(isReported({ ...EVENT, ...more }, any)).toBe(is));
});

it('an event has one line', () => {
  expect(summaryOf(EVENT)).toBe('changed: News');
  const more = { kind: 'new', target: `${URL}b`, missing: '.price' } as const;
  expect(summaryOf({ ...EVENT, ...more })).toBe(`watching: News -> ${URL}b; nothing on the page matches .price`);
  expect(summaryOf({ ...EVENT, kind: 'gone', title: null, problem: 'status 404' })).toBe('gone; status 404');
});
