import { describe, expect, it } from 'vitest';
import type { FetchSuccess, ParseOutcome } from '../../../../src/core/domain/crawl/states/outcome.ts';
import {
  asSoft404,
  isLikeMissingPage,
  isMissingPageUrl,
  missingPageOf,
  missingPageUrl,
} from '../../../../src/core/domain/crawl/states/soft-404.ts';

const success: FetchSuccess = {
  kind: 'success',
  status: 200,
  contentType: 'text/html',
  robotsTag: null,
  validators: { etag: null, lastModified: null, contentLength: null },
  digest: '0'.repeat(32),
  truncated: false,
  audit: null,
  at: 7,
  requests: 1,
  bodyBytes: 10,
  receivedBytes: 20,
  ms: 5,
};
const page = (signature: string | null, textChars = 100, signatureName = 'sig-1'): ParseOutcome => ({
  kind: 'parsed',
  signature,
  signatureName,
  title: null,
  textChars,
  stated: null,
  places: [],
  noindex: false,
  metadata: {},
});

it.each([
  ['https://a.example/blog/2024/post.html?x=1', 'https://a.example/blog/2024/'],
  ['https://a.example/', 'https://a.example/'],
  ['http://a.example:8080/x', 'http://a.example:8080/'],
])('the missing page of a host is a URL beside %s', (url, folder) => {
  const missing = missingPageUrl(url, 0.5);
  expect(missing).toBe(`${folder}incrawl-no-such-page-800000000000`);
  expect(isMissingPageUrl(missing)).toBe(true);
  expect(isMissingPageUrl(url)).toBe(false);
  expect(isMissingPageUrl(missingPageUrl(url, 0))).toBe(true);
});

describe('the missing page of a host', () => {
  it('is the page that came, or an honest refusal', () => {
    expect(missingPageOf(success, page('fd851af90bc24962'))).toEqual({
      at: 7,
      signature: 'fd851af90bc24962',
      signatureName: 'sig-1',
      textChars: 100,
    });
    const { at, requests, bodyBytes, receivedBytes, ms } = success;
    const gone = { kind: 'gone', status: 404, at, requests, bodyBytes, receivedBytes, ms } as const;
    expect(missingPageOf(gone, null).signature).toBeNull();
    expect(missingPageOf(success, { kind: 'parse-failed', code: 'x', message: '' }).signature).toBeNull();
  });

  const missing = missingPageOf(success, page('fd851af90bc24962'));
  it.each([
    ['the same', page('fd851af90bc24962'), true],
    ['three bits off', page('7d859af98bc24962'), true],
    ['four bits off', page('7d859af98bc2c962'), false],
    ['much longer', page('fd851af90bc24962', 200), false],
    ['signed by other rules', page('fd851af90bc24962', 100, 'sig-2'), false],
    ['without words', page(null), false],
  ])('%s: %#', (_title, parse, isLike) => {
    expect(isLikeMissingPage(parse, missing)).toBe(isLike);
    expect(isLikeMissingPage(parse, null)).toBe(false);
    expect(isLikeMissingPage(parse, missingPageOf(success, page(null)))).toBe(false);
  });

  it('makes a page that says the same gone, with its costs', () => {
    expect(asSoft404(success)).toEqual({
      kind: 'gone',
      reason: 'soft-404',
      status: 200,
      at: 7,
      requests: 1,
      bodyBytes: 10,
      receivedBytes: 20,
      ms: 5,
    });
  });
});
