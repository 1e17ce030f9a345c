import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { reasonOfCode, SKIP_REASON_NAMES, SKIP_REASONS } from '../../../src/core/domain/crawl/states/skip-reasons.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/domain/errors.ts';
import { noteVisit, SkipNotes } from '../../../src/core/steps/counters/outcome-counts.ts';

const note = (url: string, detail: string | null = null) =>
  ({ url, reason: 'url-filtered', by: 'urlfilter-scope', detail, from: null }) as const;

describe('notes of skipped URLs', () => {
  it('list each URL of a reason once, count every case, and say how many are not listed', () => {
    const notes = new SkipNotes(2);
    for (const url of ['a', 'b', 'a', 'c', 'd', 'b']) notes.note(note(url));
    notes.note({ ...note('c'), reason: 'nofollow' });
    expect(notes.listed.map(({ url, reason }) => `${reason} ${url}`)).toEqual([
      'url-filtered a',
      'url-filtered b',
      'nofollow c',
    ]);
    expect(notes.counts).toEqual({ 'url-filtered': 6, nofollow: 1 });
    expect(notes.cut).toBe(2);
  });

  it('count cases without a URL', () => {
    const notes = new SkipNotes(2);
    notes.note({ ...note('a'), reason: 'over-top-n' });
    notes.noteMore('over-top-n', 5);
    notes.noteMore('nofollow', 0);
    expect(notes.counts).toEqual({ 'over-top-n': 6 });
    expect([notes.listed.length, notes.cut]).toEqual([1, 5]);
  });

  it('stay small whatever texts a page has', () => {
    const notes = new SkipNotes(10);
    notes.note(note('x'.repeat(1e6), 'y'.repeat(1e6)));
    expect(JSON.stringify(notes.listed).length).toBeLessThan(3_000);
  });

  it('note visits that brought no page, and no others', () => {
    const notes = new SkipNotes(10);
    const datum = newDatum({ url: 'https://a.example/', now: 0, intervalMs: 1 });
    noteVisit(notes, datum, null);
    noteVisit(notes, { ...datum, state: 'gone' }, 410);
    noteVisit(notes, { ...datum, lastError: { code: 'robots-denied', message: 'line 3', at: 1 } }, null);
    noteVisit(notes, { ...datum, lastError: { code: 'made-up', message: 'by a plugin', at: 1 } }, null);
    expect(notes.listed.map(({ reason, detail }) => [reason, detail])).toEqual([
      ['gone', 'status 410'],
      ['robots-denied', 'line 3'],
      ['other-failure', 'by a plugin'],
    ]);
  });
});

describe('the list of reasons', () => {
  it('has every error that a visit can end with', () => {
    const ofCommands = new Set<ErrorCode>([
      'config-invalid',
      'usage-invalid',
      'contact-missing',
      'crawl-missing',
      'db-locked',
      'db-moved',
      'db-readonly',
      'holder-gone',
      'lease-lost',
      'run-missing',
      'redis-unreachable',
      'postgres-unreachable',
      'object-store-unreachable',
      'object-store-refused',
      'db-version',
      'db-corrupt',
      'disk-full',
      'system-limit',
      'plugin-broken',
      'segment-missing',
      'segment-corrupt',
      'package-missing',
      'install-failed',
      'url-invalid',
      'failure-limit',
      'internal',
    ]);
    const ofVisits = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !ofCommands.has(code));
    expect(ofVisits.filter((code) => reasonOfCode(code) !== code)).toEqual([]);
    // A link that is no URL is no outcome of a visit, whatever the code is called.
    expect(reasonOfCode('url-invalid')).toBe('other-failure');
    expect(reasonOfCode('toString')).toBe('other-failure');
  });

  it.each(SKIP_REASON_NAMES)('%s has a meaning and a remedy', (reason) => {
    expect(SKIP_REASONS[reason].text).toMatch(/^[A-Zr].*[.)]$/);
    expect(SKIP_REASONS[reason].remedy).not.toBe('');
  });
});
