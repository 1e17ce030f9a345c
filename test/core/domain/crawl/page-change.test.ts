import { describe, expect, it } from 'vitest';
import { type ChangeKind, pageChange, pageDropped } from '../../../../src/core/domain/crawl/change/page-change.ts';
import {
  CRAWL_STATES,
  type CrawlDatum,
  newDatum,
  type VisitOutcome,
} from '../../../../src/core/domain/crawl/states/datum.ts';

const URL = 'https://a.example/';
const NOW = 1_800_000_000_000;
const fresh = newDatum({ url: URL, now: 0, intervalMs: 1_000 });
const page: CrawlDatum = {
  ...fresh,
  state: 'fetched',
  lastFetchAt: 5,
  digest: 'd1',
  title: 'A title',
  httpStatus: 200,
};
const same: CrawlDatum = { ...page, state: 'notmodified' };
const other: CrawlDatum = { ...page, digest: 'd2' };
const gone: CrawlDatum = { ...page, state: 'gone', httpStatus: 404 };
const moved: CrawlDatum = { ...page, state: 'redir_perm', target: 'https://b.example/' };
const elsewhere: CrawlDatum = { ...moved, state: 'redir_temp', target: 'https://c.example/' };
const repeats: CrawlDatum = { ...page, state: 'duplicate', target: 'https://b.example/' };
const unreadable: CrawlDatum = { ...other, state: 'parse_failed' };
const orphan: CrawlDatum = { ...page, state: 'orphan' };
const visit = (outcome: VisitOutcome) => ({ at: 5, outcome, distance: null, elapsedMs: 1, bytes: 1, intervalMs: 1 });
const movedOrphan: CrawlDatum = {
  ...moved,
  state: 'orphan',
  httpStatus: 301,
  visits: [visit('new'), visit('redirect'), visit('failed')],
};
const repeatingOrphan: CrawlDatum = { ...repeats, state: 'orphan', visits: [visit('new')] };
const neverThere: CrawlDatum = { ...fresh, state: 'gone', lastFetchAt: 5, httpStatus: 404 };
const neverPage: CrawlDatum = { ...fresh, state: 'redir_perm', lastFetchAt: 5, target: 'https://b.example/' };
const CALM: CrawlDatum['blocks'] = {
  blocks: [],
  changed: [],
  volatile: ['body>p'],
  places: '',
  contentChars: 0,
  isCalm: true,
};
const failing: CrawlDatum = { ...page, failures: 3 };

describe('entries for consumers', () => {
  const table: readonly [string, CrawlDatum, CrawlDatum, ChangeKind | null][] = [
    ['a first visit', fresh, page, 'new'],
    ['a first visit that cannot be parsed', fresh, unreadable, 'new'],
    ['the same again', page, same, null],
    ['another body', same, other, 'modified'],
    ['another body that cannot be parsed', page, unreadable, 'modified'],
    ['a visit that failed', page, failing, null],
    ['a page that goes', page, gone, 'gone'],
    ['a page that stays away', gone, gone, null],
    ['a page that is there again, as it was', gone, same, 'back'],
    ['a page that is there again, changed', gone, other, 'back'],
    ['a URL that never was a page', fresh, neverThere, null],
    ['a URL that was no page and is one now', neverThere, page, 'new'],
    ['a redirect met first', fresh, neverPage, null],
    ['a redirect that is a page now', neverPage, page, 'new'],
    ['a page that moves', page, moved, 'moved'],
    ['a redirect that stays', moved, { ...moved, state: 'redir_temp' }, null],
    ['a redirect that leads elsewhere', moved, elsewhere, 'moved'],
    ['a redirect that ends', moved, same, 'back'],
    ['a redirect that goes', moved, gone, 'gone'],
    ['what was gone and redirects now', gone, moved, 'moved'],
    ['a page that repeats another', page, repeats, 'duplicate'],
    ['a duplicate that still is one', repeats, repeats, null],
    ['a duplicate of another page', repeats, { ...repeats, target: 'https://c.example/' }, 'duplicate'],
    ['a duplicate that changes and still is one', repeats, { ...repeats, digest: 'd2' }, 'modified'],
    ['a page of which only parts differ that always do', page, { ...other, blocks: CALM }, null],
    ['a duplicate of which only such parts differ', repeats, { ...repeats, digest: 'd2', blocks: CALM }, null],
    ['a duplicate that is none any more, with such parts', repeats, { ...other, blocks: CALM }, 'back'],
    ['a duplicate that is none any more', repeats, page, 'back'],
    ['a page that can be read again, as it was', unreadable, other, 'back'],
    ['a duplicate that changes', repeats, other, 'modified'],
    ['a duplicate at first sight', fresh, repeats, 'duplicate'],
    ['an orphan visited on its way', orphan, other, 'modified'],
    ['a page that becomes an orphan', page, orphan, null],
    ['an orphan that had moved and is a page again, as it was', movedOrphan, same, 'back'],
    ['an orphan that had moved and still does', movedOrphan, moved, null],
    ['an orphan that repeated a page and stands for itself', repeatingOrphan, page, 'back'],
    ['an orphan that repeated a page and still does', repeatingOrphan, repeats, null],
    ['an orphan that is wanted again', orphan, page, null],
  ];
  it.each(table)('%s', (_, before, after, kind) => {
    expect(pageChange(before, after, NOW)?.kind ?? null).toBe(kind);
  });

  it('nothing, whenever nothing has changed', () => {
    for (const state of CRAWL_STATES) {
      const datum = { ...page, state };
      expect(pageChange(datum, datum, NOW), state).toBeNull();
    }
  });

  it('names no target of a gone page, whatever it repeated or redirected to before', () => {
    for (const before of [moved, repeats]) {
      expect(pageChange(before, { ...before, state: 'gone' }, NOW)).toMatchObject({ kind: 'gone', target: null });
      expect(pageDropped({ ...before, state: 'gone' }, NOW)).toMatchObject({ kind: 'dropped', target: null });
      expect(pageDropped(before, NOW)).toMatchObject({ target: before.target });
    }
  });

  it('carries the distance of the visit that found it, and of no other', () => {
    const found = { ...visit('modified'), distance: 7 };
    const change = pageChange(same, { ...other, visits: [found] }, NOW);
    expect(change).toEqual({
      kind: 'modified',
      url: URL,
      at: NOW,
      state: 'fetched',
      status: 200,
      distance: 7,
      target: null,
      title: 'A title',
    });
    expect(pageChange({ ...page, visits: [found] }, { ...repeats, visits: [found] }, NOW)?.distance).toBeNull();
  });
});
