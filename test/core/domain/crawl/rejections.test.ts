import { describe, expect, it } from 'vitest';
import {
  countRejection,
  rejectionKind,
  sumOfRejections,
} from '../../../../src/core/domain/crawl/discovery/link-rules.ts';
import { canonicalUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';

describe('reasons why URLs are kept out', () => {
  it.each([
    ['urlfilter-scope', 'host not in scope: b.org', 'urlfilter-scope: host not in scope'],
    ['urlfilter-rules', 'rule line 12: -\\.gif$', 'urlfilter-rules: rule line 12'],
    ['urlfilter-traps', 'path repeats itself: "a" 3 times', 'urlfilter-traps: path repeats itself'],
    ['urlfilter-mine', 'plugin-failed: urlfilter-mine: oh', 'urlfilter-mine: plugin-failed'],
    ['urlfilter-mine', '"x" is bad', 'urlfilter-mine: refused'],
  ])('%s, %s', (by, reason, kind) => {
    expect(rejectionKind(by, reason)).toBe(kind);
  });

  it('of invalid URLs are few, whatever the text', () => {
    const refusals = ['', 'a', 'b.org/x', 'mailto:a@b', 'tel:1', 'http://a b/', `http://a/${'x'.repeat(5_000)}`].map(
      (text) => {
        const result = canonicalUrl(text);
        return 'error' in result ? rejectionKind('url', result.error) : null;
      },
    );
    expect(refusals).toEqual([
      'url: empty',
      'url: not an absolute URL',
      'url: not an absolute URL',
      'url: only http and https URLs are crawled',
      'url: only http and https URLs are crawled',
      'url: not a valid URL',
      'url: longer than 2048 characters',
    ]);
  });

  it('are counted by kind, a bounded number of kinds', () => {
    const counts: Record<string, number> = {};
    for (let i = 0; i < 300; i++) countRejection(counts, `p: ${i}`);
    countRejection(counts, 'p: 0');
    expect(Object.keys(counts)).toHaveLength(101);
    expect([counts['p: 0'], counts['other reasons']]).toEqual([2, 200]);
    expect(sumOfRejections([{ a: 1 }, { a: 2, b: 1 }])).toEqual({ a: 3, b: 1 });
  });
});
