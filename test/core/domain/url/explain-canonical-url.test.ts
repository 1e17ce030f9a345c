import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalUrl, explainCanonicalUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';

function canonical(input: string): string | null {
  const result = canonicalUrl(input);
  return 'url' in result ? result.url : null;
}

describe('explainCanonicalUrl', () => {
  it('names each change and ends at the canonical URL', () => {
    const steps = explainCanonicalUrl(' HTTP://me:pw@Example.org.:80/a/../%7eb?#top ');
    expect(steps.map(({ name }) => name)).toEqual([
      'trim white space and control characters',
      'parse (case, port, dot segments, encoding)',
      'strip userinfo',
      'drop fragment',
      'drop empty query',
      'remove final dot of the host',
      'normalise percent-encoding',
    ]);
    expect(steps.at(-1)?.after).toBe('http://example.org/~b');
  });

  it('names what it removes of control characters', () => {
    expect(explainCanonicalUrl('\u0001ht\ttp://example.org/\u0000').map(({ name, after }) => [name, after])).toEqual([
      ['trim white space and control characters', 'ht\ttp://example.org/'],
      ['remove tabs and line breaks', 'http://example.org/'],
    ]);
  });

  it('has nothing to say of a canonical URL, and names the base', () => {
    expect(explainCanonicalUrl('http://example.org/')).toEqual([]);
    expect(explainCanonicalUrl('b', 'http://example.org/a')).toEqual([
      { name: 'resolve against the base', before: 'b', after: 'http://example.org/b' },
    ]);
  });

  it('ends with the reason of a refusal', () => {
    expect(explainCanonicalUrl('ftp://x/')).toEqual([
      { name: 'only http and https URLs are crawled, not "ftp:"', before: 'ftp://x/', after: null },
    ]);
    expect(explainCanonicalUrl('http://a..b/').at(-1)?.after).toBeNull();
  });

  it('is a chain from the input to the answer of canonicalUrl', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.boolean(), (url, shout) => {
        const input = shout ? ` ${url.replace(/^http/, 'HTTP')}` : url;
        let current: string | null = input;
        for (const { before, after } of explainCanonicalUrl(input)) {
          expect(before).toBe(current);
          current = after;
        }
        expect(current).toBe(canonical(input));
      }),
    );
  });
});
