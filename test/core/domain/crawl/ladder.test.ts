import { describe, expect, it } from 'vitest';
import {
  conditionalHeaders,
  type HeaderRecord,
  isOfAnotherVersion,
  planProbe,
  saysUnchanged,
  validatorsOf,
  variesFreely,
  wouldHaveSkipped,
} from '../../../../src/core/domain/crawl/headers/ladder.ts';
import type { Validators } from '../../../../src/core/domain/crawl/states/datum.ts';

const DATE = 'Mon, 05 Jan 2026 10:00:00 GMT';
const both: Validators = { etag: '"a"', lastModified: DATE, contentLength: 100 };
const dated: Validators = { ...both, etag: null };
const none: Validators = { etag: null, lastModified: null, contentLength: null };
const fresh: HeaderRecord = {
  distrustedUntil: null,
  conditionalHits: 0,
  conditionalMisses: 0,
  headHits: 0,
  headMisses: 0,
};
const page = (validators: Validators, digest: string | null = 'd') => ({ digest, validators });

describe('the choice of rungs', () => {
  it('a first visit and a distrusted host transfer the body', () => {
    const full = { head: false, conditional: false, drop: false, audit: false };
    expect(planProbe(page(both, null), fresh, 'head', true, 0)).toEqual(full);
    expect(planProbe(page(both), { ...fresh, distrustedUntil: 10 }, 'head', false, 9)).toEqual(full);
    expect(planProbe(page(both), { ...fresh, distrustedUntil: 10 }, 'head', false, 10).head).toBe(true);
  });

  it('an audit sends no condition and drops no body, but only where headers would have been believed', () => {
    expect(planProbe(page(both), fresh, 'auto', true, 0)).toEqual({
      head: false,
      conditional: false,
      drop: false,
      audit: true,
    });
    expect(planProbe(page(none), fresh, 'auto', true, 0).audit).toBe(false);
  });

  it.each([
    ['off', { head: false, conditional: true, drop: false }],
    ['headers', { head: false, conditional: true, drop: true }],
    ['head', { head: true, conditional: true, drop: true }],
    ['auto', { head: false, conditional: true, drop: true }],
  ] as const)('mode %s', (mode, expected) => {
    expect(planProbe(page(dated), fresh, mode, false, 0)).toMatchObject(expected);
  });

  it('without both length and date there is nothing to compare, only to ask conditionally', () => {
    expect(planProbe(page({ ...both, contentLength: null }), fresh, 'head', false, 0)).toMatchObject({
      head: false,
      conditional: true,
      drop: false,
    });
    expect(planProbe(page(none), fresh, 'auto', false, 0)).toMatchObject({
      head: false,
      conditional: false,
      drop: false,
    });
  });

  it('auto goes over to HEAD on hosts that ignore conditions, and back from it on hosts that refuse HEAD', () => {
    const ignoring = { ...fresh, conditionalMisses: 3 };
    expect(planProbe(page(dated), ignoring, 'auto', false, 0).head).toBe(true);
    expect(planProbe(page(dated), { ...ignoring, conditionalHits: 9 }, 'auto', false, 0).head).toBe(false);
    expect(planProbe(page(dated), { ...ignoring, headMisses: 3 }, 'auto', false, 0).head).toBe(false);
    expect(planProbe(page(dated), { ...ignoring, headMisses: 3, headHits: 9 }, 'auto', false, 0).head).toBe(true);
  });

  it('auto judges pages without an entity tag by those without, where they are known apart', () => {
    const answers = { ...fresh, conditionalHits: 100 };
    const ignored = { conditionalHits: 0, conditionalMisses: 3 };
    expect(planProbe(page(dated), answers, 'auto', false, 0, ignored).head).toBe(true);
    expect(planProbe(page(both), answers, 'auto', false, 0, ignored).head).toBe(false);
    const ignores = { ...fresh, conditionalMisses: 100 };
    const honoured = { conditionalHits: 3, conditionalMisses: 0 };
    expect(planProbe(page(dated), ignores, 'auto', false, 0, honoured).head).toBe(false);
    expect(planProbe(page(both), ignores, 'auto', false, 0, honoured).head).toBe(true);
  });
});

describe('the claim of headers', () => {
  it.each([
    ['both equal', dated, dated, true],
    ['length differs', dated, { ...dated, contentLength: 101 }, false],
    ['date differs', dated, { ...dated, lastModified: 'Mon, 05 Jan 2026 10:00:01 GMT' }, false],
    ['length missing in the answer', dated, { ...dated, contentLength: null }, false],
    ['date missing in the answer', dated, { ...dated, lastModified: null }, false],
    ['length never stored', { ...dated, contentLength: null }, dated, false],
    ['date never stored', { ...dated, lastModified: null }, dated, false],
    ['nothing on either side', none, none, false],
    ['entity tags differ', both, { ...both, etag: '"b"' }, false],
    ['entity tag on one side only', both, dated, true],
  ])('%s', (_name, stored, answer, expected) => {
    expect(saysUnchanged(stored, answer)).toBe(expected);
  });

  it('an audit also judges equal strong entity tags, not weak ones', () => {
    const tagged = { ...none, etag: '"a"' };
    expect(wouldHaveSkipped(tagged, tagged)).toBe(true);
    const weak = { ...none, etag: 'W/"a"' };
    expect(wouldHaveSkipped(weak, weak)).toBe(false);
  });

  it('an audit judges the date of a page without an entity tag, on which a 304 rests alone', () => {
    const undeclared = { ...dated, contentLength: null };
    expect(wouldHaveSkipped(undeclared, undeclared)).toBe(true);
    expect(wouldHaveSkipped(dated, { ...dated, contentLength: 101 })).toBe(true);
    expect(wouldHaveSkipped(dated, { ...dated, lastModified: 'Mon, 05 Jan 2026 10:00:01 GMT' })).toBe(false);
    // With a tag the server goes by that.
    expect(wouldHaveSkipped(both, { ...both, etag: '"b"' })).toBe(false);
    expect(wouldHaveSkipped({ ...both, contentLength: null }, undeclared)).toBe(false);
    expect(wouldHaveSkipped(none, none)).toBe(false);
  });

  it('reads validators off headers; a broken length counts as absent', () => {
    expect(validatorsOf({ etag: '"x"', 'last-modified': DATE, 'content-length': '12' })).toEqual({
      etag: '"x"',
      lastModified: DATE,
      contentLength: 12,
    });
    for (const length of ['-1', '1.5', '', '12, 12', 'abc']) {
      expect(validatorsOf({ 'content-length': length }).contentLength).toBeNull();
    }
    expect(conditionalHeaders(both)).toEqual({ 'if-none-match': '"a"', 'if-modified-since': DATE });
    expect(conditionalHeaders(none)).toEqual({});
  });
});

describe('a 304 of another version', () => {
  const tagged = (etag: string | null): Validators => ({ ...both, etag });
  it.each([
    ['another tag', tagged('"a"'), tagged('"b"'), true],
    ['the same tag', tagged('"a"'), tagged('"a"'), false],
    ['the same tag, weak', tagged('"a"'), tagged('W/"a"'), false],
    ['the same tag, for a content coding', tagged('"a-gzip"'), tagged('"a"'), false],
    ['the same tag, for another coding', tagged('W/"a;br"'), tagged('"a-gzip"'), false],
    ['no tag', tagged('"a"'), tagged(null), false],
    ['a tag where none was sent', dated, both, false],
    ['the same tag and another date', both, { ...both, lastModified: 'Tue, 06 Jan 2026 10:00:00 GMT' }, false],
    ['a later date alone', dated, { ...dated, lastModified: 'Tue, 06 Jan 2026 10:00:00 GMT' }, true],
    ['an earlier date alone', dated, { ...dated, lastModified: 'Sun, 04 Jan 2026 10:00:00 GMT' }, false],
    ['the same date, spelt otherwise', dated, { ...dated, lastModified: 'Mon Jan  5 10:00:00 2026' }, false],
    ['a date that is none', dated, { ...dated, lastModified: 'never' }, false],
    ['no validator', both, none, false],
  ])('%s', (_name, asked, answer, expected) => {
    expect(isOfAnotherVersion(asked, answer)).toBe(expected);
  });
});

it('a body that depends on more than the request is named by a star in Vary', () => {
  expect(['*', 'Accept-Encoding, *', 'Accept-Encoding', '', undefined].map(variesFreely)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
