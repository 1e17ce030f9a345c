import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinkResolver } from './link-resolver.ts';

const BASE = 'http://example.org:8080/dir/page.html?q=1#top';
const resolve = createLinkResolver(BASE);

/** Not by `URL.canParse`: in Node 20 that is wrong about hosts with a letter beyond ASCII once it is optimised. */
function parsed(href: string, base: string): URL | null {
  try {
    return new URL(href, base);
  } catch {
    return null;
  }
}

describe('resolving links', () => {
  it.each<[string, string | null]>([
    ['other.html', 'http://example.org:8080/dir/other.html'],
    ['sub/', 'http://example.org:8080/dir/sub/'],
    ['/root?x=1&y=a:b', 'http://example.org:8080/root?x=1&y=a:b'],
    ['?page=2', 'http://example.org:8080/dir/page.html?page=2'],
    ['a.html#part', 'http://example.org:8080/dir/a.html'],
    ['a.html#', 'http://example.org:8080/dir/a.html'],
    ['?x#', 'http://example.org:8080/dir/page.html?x'],
    ['/a b#c d', 'http://example.org:8080/a%20b'],
    ['../up', 'http://example.org:8080/up'],
    ['./here', 'http://example.org:8080/dir/here'],
    ['/a/../b', 'http://example.org:8080/b'],
    ['/a/%2e%2E/b', 'http://example.org:8080/b'],
    ['//cdn.example.net/x', 'http://cdn.example.net/x'],
    ['\\\\cdn.example.net\\x', 'http://cdn.example.net/x'],
    ['https://Other.example/A', 'https://other.example/A'],
    ['https://other.example', 'https://other.example/'],
    ['https://other.example/a//b', 'https://other.example/a//b'],
    ['http://user:secret@example.org/x', 'http://example.org/x'],
    ['http://user:secret@example.org/x#y', 'http://example.org/x'],
    ['http:relative', 'http://example.org:8080/dir/relative'],
    ['  \n/spaces\t ', 'http://example.org:8080/spaces'],
    ['/li\nne', 'http://example.org:8080/line'],
    ['/ü?ü', 'http://example.org:8080/%C3%BC?%C3%BC'],
    ['http://1.2.3/x', 'http://1.2.0.3/x'],
    ['http://0x7f.1/x', 'http://127.0.0.1/x'],
    ['http://bücher.example/x', 'http://xn--bcher-kva.example/x'],
    ['#top', null],
    ['  #top', null],
    ['', null],
    [' ', null],
    ['javascript:void(0)', null],
    [' JavaScript:alert(1)', null],
    ['java\nscript:alert(1)', null],
    ['mailto:a@example.org', null],
    ['tel:+49', null],
    ['data:text/html,x', null],
    ['ftp://example.org/x', null],
    ['android-app://org.example/x', null],
    ['http://', null],
    // A label that is no Punycode: the URL Standard of 2025 lets it pass, earlier ones do not; Node decides.
    ['http://xn--/x', parsed('http://xn--/x', BASE)?.href ?? null],
    ['http://a b/', null],
    ['http://exa mple.org:99999/', null],
    [`/${'a'.repeat(2100)}`, null],
    [`/${'%20'.repeat(10_000)}`, null],
    [`/${'a'.repeat(2000)}`, `http://example.org:8080/${'a'.repeat(2000)}`],
  ])('%j', (href, expected) => {
    expect(resolve(href)).toBe(expected);
  });

  it.each(['', 'page.html', 'file:///pages/page.html'])('against %j, only absolute links resolve', (base) => {
    const absolute = createLinkResolver(base);
    expect(absolute('http://example.org/a#b')).toBe('http://example.org/a');
    for (const href of ['a', '/a', '?a', '#a', '', '../a', 'mailto:a']) expect(absolute(href)).toBeNull();
  });

  it('gives what the URL parser gives, without fragment', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        'B',
        '1',
        '-',
        '_',
        '~',
        '.',
        '..',
        '/',
        '//',
        '?',
        '#',
        '&',
        '=',
        ':',
        ';',
        ',',
        '@',
        '!',
        "'",
        '(',
        '*',
        '+',
        '$',
      ],
      ...['%', '%2e', '%20', '%zz', ' ', '\t', '\n', '\\', '"', '<', '|', '^', '`', '{', '[', 'ü', '中', '\u00a0'],
      ...[
        'http:',
        'https://',
        'http://h.example',
        'https://1.2',
        'http://a.0x',
        'http://xn--a',
        'mailto:',
        'x:',
        'HTTP://',
        ':80',
        ':443',
        'www.',
        '.html',
      ],
    );
    const bases = [BASE, 'https://h.example/', 'http://h.example/a/b/?x', 'http://[::1]:1/a'];
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }).map((all) => all.join('')),
        fc.constantFrom(...bases),
        (href, base) => {
          const found = createLinkResolver(base)(href);
          const url = parsed(href, base);
          if (url === null || /^[\0-\x20]*(?:#|$)/.test(href)) {
            expect(found).toBeNull();
            return;
          }
          url.hash = '';
          url.username = '';
          url.password = '';
          const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
          expect(found).toBe(isHttp ? url.href : null);
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('queries of a page in another encoding than UTF-8', () => {
  it.each<[string, string, string]>([
    ['shift_jis', '/検索?q=日本#日', 'http://example.org:8080/%E6%A4%9C%E7%B4%A2?q=%93%FA%96{'],
    ['windows-1252', '?q=café', 'http://example.org:8080/dir/page.html?q=caf%E9'],
    ['windows-1252', ' ?q=caf\n é\t ', 'http://example.org:8080/dir/page.html?q=caf%20%E9'],
    ['windows-1252', 'http://bücher.example/ü?ü', 'http://xn--bcher-kva.example/%C3%BC?%FC'],
    ['windows-1252', "?q='é'&r=%C3%A9\"", 'http://example.org:8080/dir/page.html?q=%27%E9%27&r=%C3%A9%22'],
    ['windows-1252', '?日', 'http://example.org:8080/dir/page.html?%26%2326085%3B'],
    ['windows-1252', 'ü#?ü', 'http://example.org:8080/dir/%C3%BC'],
    ['gbk', '?q=中文&x', 'http://example.org:8080/dir/page.html?q=%D6%D0%CE%C4&x'],
    ['iso-2022-jp', '?日', 'http://example.org:8080/dir/page.html?%1B$BF|%1B(B'],
    ['utf-16le', '?é', 'http://example.org:8080/dir/page.html?%C3%A9'],
    ['utf-8', '?é', 'http://example.org:8080/dir/page.html?%C3%A9'],
  ])('%s: %j', (charset, href, expected) => {
    expect(createLinkResolver(BASE, charset)(href)).toBe(expected);
  });
});
