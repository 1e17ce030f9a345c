import { robotsDirectives } from 'incrawl/plugin';
import { describe, expect, it } from 'vitest';
import { parseLinkHeader } from './link-header.ts';
import { refreshTarget } from './meta-element.ts';

describe('robots directives', () => {
  it.each<[string[], string | undefined, boolean, boolean]>([
    [[], undefined, false, false],
    [['index, follow'], undefined, false, false],
    [['NOINDEX'], undefined, true, false],
    [['nofollow,noindex'], undefined, true, true],
    [['none'], undefined, true, true],
    [['index', 'nofollow'], undefined, false, true],
    [['noindexed nofollowed'], undefined, false, false],
    [[], 'noindex', true, false],
    [[], 'noarchive, NoFollow', false, true],
    [[], 'incrawl: noindex, nofollow', true, true],
    [[], 'InCrawl:none', true, true],
    [[], 'googlebot: noindex, nofollow', false, false],
    [[], 'noindex, googlebot: nofollow', true, false],
    [[], 'googlebot: noindex, incrawl: nofollow', false, true],
    [[], 'googlebot: nofollow\nnoindex', true, false],
    [[], 'incrawl: nofollow\ngooglebot: noindex', false, true],
    [[], 'unavailable_after: 25 Jun 2010 15:00:00 PST, noindex', true, false],
    [[], 'max-snippet: 20, nofollow', false, true],
    [['noindex'], 'nofollow', true, true],
  ])('%j and %j', (metas, header, noindex, nofollow) => {
    expect(robotsDirectives(metas, header, 'incrawl')).toEqual({ noindex, nofollow });
  });
});

describe('Link header', () => {
  it.each<[string, [string, Record<string, string>][]]>([
    ['<https://a.example/>; rel="canonical"', [['https://a.example/', { rel: 'canonical' }]]],
    ['</a>;rel=canonical', [['/a', { rel: 'canonical' }]]],
    [
      '</a,b;c>; rel="next"; title="x, \\"y\\"" , </d>; REL=prev; hreflang=de',
      [
        ['/a,b;c', { rel: 'next', title: 'x, "y"' }],
        ['/d', { rel: 'prev', hreflang: 'de' }],
      ],
    ],
    ['</a>; rel=first; rel=second', [['/a', { rel: 'first' }]]],
    [
      '</a>, </b>',
      [
        ['/a', {}],
        ['/b', {}],
      ],
    ],
    ['nonsense', []],
    ['<open', []],
    ['</a>; __proto__=x; rel="unclosed', [['/a', { ['__proto__']: 'x' }]]],
    ['', []],
  ])('%j', (header, expected) => {
    const found = parseLinkHeader(header).map(({ href, attributes }) => [href, Object.entries(attributes)]);
    expect(found).toEqual(expected.map(([href, attributes]) => [href, Object.entries(attributes)]));
  });

  it('is read in time in proportion to its length', () => {
    expect(parseLinkHeader('</a>;'.repeat(20_000))).toHaveLength(1);
    expect(parseLinkHeader('</a>,'.repeat(20_000))).toHaveLength(100);
    expect(parseLinkHeader(`</a>; rel="${'\\'.repeat(50_000)}`)).toHaveLength(1);
  });
});

describe('meta refresh', () => {
  it.each<[string, string | null]>([
    ['0; url=/next', '/next'],
    ['5;URL=/next', '/next'],
    ['0;url="/a b"; x', '/a b'],
    ["0; url='/q'", '/q'],
    ['0 url=/x', '/x'],
    ['0, /bare', '/bare'],
    ['.5; url = http://a.example/?url=1', 'http://a.example/?url=1'],
    ['1.5;/x', '/x'],
    ['30', null],
    ['30;', null],
    ['0; url=', null],
    ['url=/x', null],
    ['', null],
    [`0;${' '.repeat(100_000)}url=/x`, null],
  ])('%j', (content, expected) => {
    expect(refreshTarget(content)).toBe(expected);
  });
});
