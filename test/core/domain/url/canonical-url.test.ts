import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalUrl, isUrl, MAX_URL_LENGTH } from '../../../../src/core/domain/url/canonical/canonical-url.ts';

function canonical(input: string, base?: string): string | null {
  const result = canonicalUrl(input, base);
  return 'url' in result ? result.url : null;
}

function errorOf(input: string, base?: string): string {
  const result = canonicalUrl(input, base);
  return 'error' in result ? result.error : '';
}

/**
 * The URL Standard of 2025 takes ASCII labels for what they are, even when they are no Punycode; which one Node follows
 * hangs on its version.
 */
const REFUSED_BY_NODE: readonly [string, string][] = isUrl('http://xn--a/')
  ? []
  : [['http://xn--a/', 'not a valid URL']];

describe('canonicalUrl', () => {
  it.each([
    // C0 controls around it, tabs and line breaks in it (WHATWG)
    ['\u0000\u001f http://example.org/ \u0001\u001f', 'http://example.org/'],
    ['h\tt\r\ntp:\n//exam\tple.org/a\nb?c\td', 'http://example.org/ab?cd'],
    ['\u00a0\u0002http://example.org/\u0003\u00a0', 'http://example.org/'],
    // already canonical
    ['http://example.org/', 'http://example.org/'],
    ['https://example.org/a/b.html?x=1&y=%20%C3%A4', 'https://example.org/a/b.html?x=1&y=%20%C3%A4'],
    ['http://127.0.0.1:8080/p', 'http://127.0.0.1:8080/p'],
    ['http://localhost:3000/p?q=?', 'http://localhost:3000/p?q=?'],
    ['http://a.org//b//c', 'http://a.org//b//c'],
    // scheme, userinfo, host, port
    ['HTTPS://Example.ORG:443/', 'https://example.org/'],
    ['http://example.org:80', 'http://example.org/'],
    ['http://example.org:0080/', 'http://example.org/'],
    ['http://example.org:443/', 'http://example.org:443/'],
    ['https://example.org:80/', 'https://example.org:80/'],
    ['http://user:secret@example.org/x', 'http://example.org/x'],
    ['http://example.org./x', 'http://example.org/x'],
    ['http://example.org.:8080/x', 'http://example.org:8080/x'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['http://B%C3%BCcher.example/', 'http://xn--bcher-kva.example/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://127.0.0.01/', 'http://127.0.0.1/'],
    ['http://[::0:1]:80/', 'http://[::1]/'],
    ['http://foo_bar.example/', 'http://foo_bar.example/'],
    // path, query, fragment
    ['http://example.org?a=1', 'http://example.org/?a=1'],
    ['http://example.org/?', 'http://example.org/'],
    ['http://example.org/?#', 'http://example.org/'],
    ['http://example.org/a#b?c', 'http://example.org/a'],
    ['http://example.org/a?b#c#d', 'http://example.org/a?b'],
    ['http://example.org/a/./b/../c/%2e%2E/d', 'http://example.org/a/d'],
    ['http://example.org/a/.b/.', 'http://example.org/a/.b/'],
    ['http://example.org/a/.b/..', 'http://example.org/a/'],
    ['http://example.org/a/.b/../c/%2E', 'http://example.org/a/c/'],
    ['http://example.org/a//.b//../.', 'http://example.org/a//.b/'],
    ['http://example.org/.well-known/x', 'http://example.org/.well-known/x'],
    ['http://example.org\\a\\b', 'http://example.org/a/b'],
    ['  http://example.org/a b\n', 'http://example.org/a%20b'],
    ['http://exam\nple.org/a\tb', 'http://example.org/ab'],
    // percent-encoding
    ['http://example.org/%7euser/%41%2f%c3%a4', 'http://example.org/~user/A%2F%C3%A4'],
    ['http://example.org/%C0?%c0', 'http://example.org/%C0?%C0'],
    ['http://example.org/100%?50%&%zz', 'http://example.org/100%25?50%25&%25zz'],
    ['http://example.org/%%34%31', 'http://example.org/%2541'],
    ['http://example.org/%2541', 'http://example.org/%2541'],
    ['http://example.org/a|b^c[d]`{}', 'http://example.org/a%7Cb%5Ec%5Bd%5D%60%7B%7D'],
    ['http://example.org/?a|b^c[d]`{}\\', 'http://example.org/?a%7Cb%5Ec%5Bd%5D%60%7B%7D%5C'],
    ["http://example.org/it's?it's", "http://example.org/it's?it%27s"],
    ['http://example.org/\ud800', 'http://example.org/%EF%BF%BD'],
  ])('%s -> %s', (input, expected) => {
    expect(canonicalUrl(input)).toEqual({ url: expected });
  });

  it.each([
    ['../c?d', 'http://example.org/a/b', 'http://example.org/c?d'],
    ['?x', 'http://example.org/a/b?y', 'http://example.org/a/b?x'],
    ['#top', 'http://example.org/a/b?y#z', 'http://example.org/a/b?y'],
    ['', 'http://example.org/a', 'http://example.org/a'],
    ['//other.example', 'https://example.org/', 'https://other.example/'],
    ['https://other.example/x', 'http://example.org/', 'https://other.example/x'],
  ])('%j against %s -> %s', (input, base, expected) => {
    expect(canonical(input, base)).toBe(expected);
  });

  it.each([
    ['', 'empty: expected http://host/path'],
    ['mailto:me@example.org', 'only http and https URLs are crawled, not "mailto:"'],
    ['JavaScript:void(0)', 'only http and https URLs are crawled, not "javascript:"'],
    ['java\nscript:void(0)', 'not "javascript:"'],
    ['ftp://example.org/', 'not "ftp:"'],
    ['localhost:8080/x', 'did you mean http://localhost:8080/x?'],
    ['www.example.org/x', 'did you mean http://www.example.org/x?'],
    ['/x', 'not an absolute URL, expected http://host/path, found "/x"'],
    ['http://', 'not a valid URL'],
    ['http://a b/', 'not a valid URL'],
    ['http://example.org:99999/', 'not a valid URL'],
    ...REFUSED_BY_NODE,
    ['http://[::1/', 'not a valid URL'],
    ['http://1.2.3.256/', 'not a valid URL'],
    ['http://./', 'empty or too long label'],
    ['http://a..b/', 'empty or too long label'],
    ['http://a.b../', 'empty or too long label'],
    [`http://${'a'.repeat(64)}.org/`, 'empty or too long label'],
    [`http://${'abcdefg.'.repeat(40)}org/`, 'host name longer than 253'],
    [`http://example.org/${'a'.repeat(MAX_URL_LENGTH)}`, 'longer than 2048 characters'],
    ['a'.repeat(1_000_000), 'longer than 2048 characters'],
  ])('refuses %.40s', (input, expected) => {
    expect(errorOf(input)).toContain(expected);
  });

  it('refuses another scheme by the base, and an invalid base', () => {
    expect(errorOf('java\nscript:void(0)', 'http://example.org/')).toContain('not "javascript:"');
    expect(errorOf('x', 'mailto:me')).not.toBe('');
    expect(errorOf('x', 'nonsense')).not.toBe('');
  });

  it('takes exactly the longest URL that is allowed, by either way', () => {
    const longest = `http://example.org/${'a'.repeat(MAX_URL_LENGTH - 19)}`;
    expect(canonical(longest)).toBe(longest);
    expect(canonical(`HTTP${longest.slice(4)}`)).toBe(longest);
    expect(canonical(`${longest}a`)).toBeNull();
    expect(canonical(`${longest}#fragment`)).toBe(longest);
  });

  const oddPiece = fc.constantFrom(
    ...[
      'http://',
      'https://',
      'HTTP:',
      'a',
      'Z',
      'x',
      'xn--',
      'n--',
      '0',
      '1',
      '25',
      '9.',
      '.',
      '..',
      '/',
      '//',
      '/.',
      '/..',
      '\\',
      ':',
    ],
    ...[
      '80',
      '443',
      ':8080',
      '@',
      '?',
      '#',
      '%',
      '%2e',
      '%2F',
      '%41',
      '%C3%A4',
      '%c0',
      'ä',
      '。',
      'ß',
      '\u00ad',
      ' ',
      '\t',
      "'",
      '"',
    ],
    ...[
      '[',
      ']',
      '|',
      '^',
      '`',
      '{',
      '+',
      '&',
      '=',
      ';',
      '~',
      '_',
      '-',
      'www.example.org',
      '\ud800',
      '日本',
      'рф',
      '\u0001',
    ],
  );
  const oddUrl = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'http://a.org', 'http://a.org/', ''),
      fc.array(oddPiece, { maxLength: 12 }),
    )
    .map(([start, pieces]) => start + pieces.join(''));
  const anyInput = fc.oneof(
    oddUrl,
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'binary' }),
  );

  it('is idempotent, never throws, and its answers survive the WHATWG parser', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const url = canonical(input);
        if (url === null) return;
        expect(canonical(url)).toBe(url);
        expect(canonical(url, 'http://base.example/dir/')).toBe(url);
        expect(canonical(new URL(url).href)).toBe(url);
        expect(url).toMatch(/^https?:\/\/[^/?#@\s]+\/[\x21-\x7e]*$/);
        expect(new URL(url).pathname).not.toMatch(/\/\.\.?(\/|$)/);
        expect(url.length).toBeLessThanOrEqual(MAX_URL_LENGTH);
      }),
      { numRuns: 4000 },
    );
  });

  it('gives one answer, whether the scan or the parser found it', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        // A tab inside the scheme is taken out by the parser and stops the scan.
        const url = canonical(input);
        if (url === null) return;
        expect(canonical(`\t${url}`)).toBe(url);
        expect(canonical(url.replace(/^http/, 'HTTP'))).toBe(url);
        if (/^https?:/.test(input)) expect(canonical(`\t${input}`)).toBe(url);
      }),
      { numRuns: 4000 },
    );
  });
});
