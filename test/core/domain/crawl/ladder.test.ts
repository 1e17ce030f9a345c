import { describe, expect, it } from 'vitest';
import {
  areClaimsKept,
  areClaimsKeptBy304,
  claimsOf,
  conditionalHeaders,
  type HeaderRecord,
  isOfAnotherVersion,
  isReadOtherwise,
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
    for (const alone of [{ etag: '"a"' }, { lastModified: DATE }, { lastModified: DATE, contentLength: 100 }])
      expect(planProbe(page({ ...none, ...alone }), fresh, 'auto', true, 0).audit, JSON.stringify(alone)).toBe(true);
    expect(planProbe(page({ ...none, contentLength: 100 }), fresh, 'auto', true, 0).audit).toBe(false);
  });

  it.each([
    ['off', { head: false, conditional: true, drop: false }],
    ['headers', { head: false, conditional: true, drop: true }],
    ['head', { head: true, conditional: true, drop: true }],
    ['auto', { head: false, conditional: true, drop: true }],
  ] as const)('mode %s', (mode, expected) => {
    expect(planProbe(page(dated), fresh, mode, false, 0)).toEqual({ ...expected, audit: false });
  });

  it('only auto learns from the host', () => {
    const ignoring = { ...fresh, conditionalMisses: 3 };
    expect(planProbe(page(dated), ignoring, 'headers', false, 0).head).toBe(false);
    expect(planProbe(page(dated), { ...fresh, headMisses: 9 }, 'head', false, 0).head).toBe(true);
  });

  it('without both length and date there is nothing to compare, only to ask conditionally', () => {
    expect(planProbe(page({ ...both, lastModified: null }), fresh, 'head', false, 0).head).toBe(false);
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
    // As often one as the other is no reason to leave what holds.
    expect(planProbe(page(dated), { ...ignoring, conditionalHits: 3 }, 'auto', false, 0).head).toBe(false);
    expect(planProbe(page(dated), { ...ignoring, headMisses: 3, headHits: 3 }, 'auto', false, 0).head).toBe(false);
    // Two are no proof.
    expect(planProbe(page(dated), { ...fresh, conditionalMisses: 2 }, 'auto', false, 0).head).toBe(false);
    expect(planProbe(page(dated), { ...ignoring, headMisses: 2 }, 'auto', false, 0).head).toBe(true);
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
    ['entity tag on the other side only', dated, both, true],
    ['entity tags equal', both, both, true],
    ['neither date', { ...dated, lastModified: null }, { ...dated, lastModified: null }, false],
    ['neither length', { ...dated, contentLength: null }, { ...dated, contentLength: null }, false],
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
    ['the same tag, for two codings', tagged('"a-gzip:br"'), tagged('"a"'), false],
    ['a tag that names a coding within', tagged('"a-gzip"b"'), tagged('"a"b"'), true],
    ['a tag with the sign of weakness within', tagged('"aW/b"'), tagged('"ab"'), true],
    ['no tag', tagged('"a"'), tagged(null), false],
    ['a tag where none was sent', dated, both, false],
    ['the same tag and another date', both, { ...both, lastModified: 'Tue, 06 Jan 2026 10:00:00 GMT' }, false],
    ['a later date alone', dated, { ...dated, lastModified: 'Tue, 06 Jan 2026 10:00:00 GMT' }, true],
    ['an earlier date alone', dated, { ...dated, lastModified: 'Sun, 04 Jan 2026 10:00:00 GMT' }, false],
    ['the same date, spelt otherwise', dated, { ...dated, lastModified: 'Mon Jan  5 10:00:00 2026' }, false],
    ['a date that is none', dated, { ...dated, lastModified: 'never' }, false],
    ['a date where none was known', { ...dated, lastModified: null }, dated, false],
    ['no date', dated, none, false],
    ['no date, and one of before 1970', { ...dated, lastModified: 'Wed, 31 Dec 1969 23:59:59 GMT' }, none, false],
    ['a date where there was none to read', { ...dated, lastModified: 'never' }, dated, false],
    ['no validator', both, none, false],
  ])('%s', (_name, asked, answer, expected) => {
    expect(isOfAnotherVersion(asked, answer)).toBe(expected);
  });
});

it('a body that depends on more than the request is named by a star in Vary', () => {
  const fields = ['*', 'Accept-Encoding, *', 'Accept-Encoding', 'X-*', '', undefined];
  expect(fields.map(variesFreely)).toEqual([true, true, false, false, false, false]);
});

describe('claims of headers beside the body', () => {
  const claims = (contentType: string | null, robotsTag: string | null = null) => ({ contentType, robotsTag });

  it('are the type and what robots may do, of which the beginning is kept', () => {
    expect(claimsOf({})).toEqual(claims(null, null));
    const headers = { 'content-type': 'text/html', 'x-robots-tag': `noindex, ${'x'.repeat(1_000)}` };
    expect(claimsOf(headers)).toEqual(claims('text/html', headers['x-robots-tag'].slice(0, 1_000)));
  });

  it.each([
    ['nothing', null, null, true],
    ['a type that was absent', null, 'text/html', true],
    ['a type that is absent now', 'text/html', null, true],
    ['another type', 'text/html', 'text/plain', false],
    ['another spelling', 'text/html; charset=UTF-8', 'Text/HTML;charset="utf8"', true],
    ['blanks around', 'text/html ; Charset = utf-8', "text/html;charset='utf-8'", true],
    ['another parameter', 'text/html;charset=utf-8;q=1', 'text/html;q=2;charset=utf-8', true],
    ['another charset', 'text/html;charset=utf-8', 'text/html;charset=latin1', false],
    ['a charset of the same beginning', 'text/html;charset=latin1', 'text/html;charset=latin2', false],
    ['a charset where there was none', 'text/html', 'text/html;charset=utf-8', false],
    ['no charset on either side', 'text/html', 'text/html ', true],
    ['a parameter that only ends so', 'text/html;x-charset=utf-8', 'text/html', true],
  ])('%s', (_name, known, current, expected) => {
    expect(areClaimsKept(claims(known), claims(current))).toBe(expected);
    expect(areClaimsKept(claims(known, 'noindex'), claims(current, 'all'))).toBe(false);
  });

  it.each([
    ['the same', 'noindex', 'noindex', true],
    ['the same, with a blank', 'noindex,nofollow', 'noindex, nofollow', true],
    ['the same, spelt otherwise', 'NoIndex,\t nofollow', 'noindex, NOFOLLOW', true],
    ['another', 'noindex', 'nofollow', false],
    ['a new one', null, 'noindex', false],
    ['an empty one', null, '', true],
  ])('a robots tag: %s', (_name, known, current, expected) => {
    expect(areClaimsKept(claims(null, known), claims(null, current))).toBe(expected);
    expect(areClaimsKeptBy304(claims('text/html', known), claims('text/plain', current))).toBe(expected);
  });

  it('a robots tag that is absent now is kept by a 304 alone', () => {
    expect(areClaimsKeptBy304(claims(null, 'noindex'), claims(null))).toBe(true);
    expect(areClaimsKept(claims(null, 'noindex'), claims(null))).toBe(false);
  });

  describe('make another page of the same bytes', () => {
    const reading = { ...claims('text/html'), signature: '0'.repeat(16), changeSignature: null, changeDigest: null };
    const before = { ...reading, signatureName: 'sig-1', title: 'a' };
    const signed = { signature: '1'.repeat(16) };
    it.each([
      ['with equal claims, whatever is read', { ...signed, title: 'b' }, false],
      ['with another robots tag', { robotsTag: 'noindex' }, true],
      ['with another media type', { contentType: 'text/plain' }, true],
      ['with another media type, signed by other rules', { contentType: 'text/plain', signatureName: 'sig-2' }, true],
      ['with a charset that shows the same text', { contentType: 'text/html;charset=utf-8' }, false],
      ['with a charset that shows another text', { contentType: 'text/html;charset=utf-8', ...signed }, true],
      ['with a charset that shows another title', { contentType: 'text/html;charset=utf-8', title: 'b' }, true],
      [
        'with a charset, signed by other rules',
        { contentType: 'text/html;charset=utf-8', signatureName: 'sig-2', ...signed, title: 'b' },
        false,
      ],
    ])('%s', (_name, part, expected) => expect(isReadOtherwise(before, { ...before, ...part })).toBe(expected));

    it('with another robots tag and no type on either side', () => {
      const typeless = { ...before, contentType: null };
      expect(isReadOtherwise(typeless, { ...before, robotsTag: 'noindex' })).toBe(true);
      expect(isReadOtherwise(typeless, { ...before, ...signed })).toBe(false);
      expect(isReadOtherwise(before, { ...typeless, ...signed })).toBe(false);
    });
  });
});
