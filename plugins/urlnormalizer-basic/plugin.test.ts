import fc from 'fast-check';
import { canonicalUrl } from 'incrawl/plugin';
import { testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { createNormalizer } from './normalizer.ts';
import { type Options, optionsSchema } from './options.ts';
import plugin from './plugin.ts';

const EVERYTHING = {
  sessionIds: 'names',
  stripWww: true,
  duplicateSlashes: true,
  stripIndexFiles: true,
  dropTrailingSlash: true,
  sortQuery: true,
} as const satisfies Partial<Options>;

function normalize(url: string, options: Partial<Options> = {}): string | null {
  return createNormalizer(optionsSchema.parse(options))(url);
}

describe('urlnormalizer-basic by default', () => {
  it.each([
    ['http://a.org/p?id=1', 'http://a.org/p?id=1'],
    ['http://a.org//p//index.html?b=2&a=1', 'http://a.org//p//index.html?b=2&a=1'],
    ['http://a.org/p?utm_source=x&id=1&UTM_Medium=y&fbclid=z', 'http://a.org/p?id=1'],
    ['http://a.org/p?gclid=1', 'http://a.org/p'],
    ['http://a.org/p?xutm_source=1&gclid2=3', 'http://a.org/p?xutm_source=1&gclid2=3'],
    ['http://a.org/p?&a=1&&b=2&', 'http://a.org/p?a=1&b=2'],
    ['http://a.org/p?&', 'http://a.org/p'],
    ['http://a.org/p;jsessionid=1A2B.node3?x=1', 'http://a.org/p?x=1'],
    ['http://a.org/;JSESSIONID=1/b;v=2/c', 'http://a.org//b;v=2/c'],
    ['http://a.org/p?x=1;jsessionid=12', 'http://a.org/p?x=1'],
    ['http://a.org/(S(4hqa0555fwsecu455xqckv45))/p.aspx', 'http://a.org/p.aspx'],
    ['http://a.org/p?PHPSESSID=abc&x=1', 'http://a.org/p?x=1'],
    ['http://a.org/p?ASPSESSIONIDQQABCD=abc', 'http://a.org/p'],
    ['http://a.org/p?sid=587fba8f825b05844526519fdb7d75c8', 'http://a.org/p'],
    ['http://a.org/story?sid=1204', 'http://a.org/story?sid=1204'],
    ['http://a.org/comments.pl?op=Reply;sid=1204', 'http://a.org/comments.pl?op=Reply;sid=1204'],
    ['http://a.org/story;sid=42/full', 'http://a.org/story;sid=42/full'],
    ['http://a.org/p;sid=587fba8f825b05844526519fdb7d75c8?x=1;sid=587fba8f825b05844526', 'http://a.org/p?x=1'],
    [
      'http://a.org/p?newsid=5&addressid=587fba8f825b05844526519fdb7d75c8',
      'http://a.org/p?newsid=5&addressid=587fba8f825b05844526519fdb7d75c8',
    ],
    ['http://a.org/x/..;jsessionid=1/y', 'http://a.org/y'],
  ])('%s -> %s', (url, expected) => {
    expect(normalize(url)).toBe(expected);
  });
});

describe('urlnormalizer-basic options', () => {
  it.each<[Partial<Options>, string, string]>([
    [{ dropQueryParams: ['x*', 'Q'] }, 'http://a.org/?X1=1&q=2&utm_source=3', 'http://a.org/?utm_source=3'],
    [{ dropQueryParams: [] }, 'http://a.org/?utm_source=3', 'http://a.org/?utm_source=3'],
    [
      { keepQueryParams: ['utm_content', 'sess*'] },
      'http://a.org/?utm_content=3&sessionid=1&gclid=2',
      'http://a.org/?utm_content=3&sessionid=1',
    ],
    [{ sessionIds: 'off' }, 'http://a.org/;jsessionid=1?PHPSESSID=2', 'http://a.org/;jsessionid=1?PHPSESSID=2'],
    [{ keepQueryParams: ['SessionId'] }, 'http://a.org/?a=1;sessionid=2', 'http://a.org/?a=1;sessionid=2'],
    [{ sessionIds: 'names' }, 'http://a.org/?sid=1&x=2', 'http://a.org/?x=2'],
    [{ sessionIds: 'names' }, 'http://a.org/a;sid=1?b;sid=2', 'http://a.org/a?b'],
    [{ tidyQuery: false }, 'http://a.org/?&a=1&', 'http://a.org/?&a=1&'],
    [{ stripWww: true }, 'http://www.a.org:8080/', 'http://a.org:8080/'],
    [{ stripWww: true }, 'http://www.org/', 'http://www.org/'],
    [{ stripWww: true }, 'http://a.org/www.b.org/', 'http://a.org/www.b.org/'],
    [{ duplicateSlashes: true }, 'http://a.org//b///c?u=http://d', 'http://a.org/b/c?u=http://d'],
    [{ stripIndexFiles: true }, 'http://a.org/b/Index.PHP?x', 'http://a.org/b/?x'],
    [{ stripIndexFiles: true }, 'http://a.org/index.html/b', 'http://a.org/index.html/b'],
    [{ stripIndexFiles: true }, 'http://a.org/myindex.html', 'http://a.org/myindex.html'],
    [{ dropTrailingSlash: true }, 'http://a.org/b/?x=/', 'http://a.org/b?x=/'],
    [{ dropTrailingSlash: true }, 'http://a.org/', 'http://a.org/'],
    [{ sortQuery: true }, 'http://a.org/?c=d&a=b&b=&=x&a=a', 'http://a.org/?a=b&a=a&b&c=d'],
  ])('%j: %s -> %s', (options, url, expected) => {
    expect(normalize(url, options)).toBe(expected);
  });

  it('refuses what it does not know', () => {
    expect(optionsSchema.safeParse({ stripWWW: true }).success).toBe(false);
    expect(optionsSchema.safeParse({ sessionIds: true }).success).toBe(false);
    expect(plugin.name).toBe('urlnormalizer-basic');
  });
});

describe('urlnormalizer-basic, the contract', () => {
  const piece = fc.constantFrom(
    ...[
      '/',
      '//',
      'a',
      'index.html',
      'default.asp',
      '..',
      '.',
      ';jsessionid=1',
      ';jsess',
      'ionid=2',
      ';sid=',
      '(S(abcdefghijklmnopq1))',
    ],
    ...[
      '?',
      '&',
      '&&',
      '=',
      'utm_source=1',
      'sid=abc',
      'sid=587fba8f825b05844526519fdb7d75c8',
      'PHPSESSID=1',
      'b=2',
      'a=',
      'a',
      '%41',
      'www.',
    ],
  );
  const url = fc
    .tuple(
      fc.constantFrom('http://www.a.org/', 'http://www.www.a.org/', 'https://a.org:8080/'),
      fc.array(piece, { maxLength: 14 }),
    )
    .map(([start, pieces]) => canonicalUrl(start + pieces.join('')))
    .filter((result) => 'url' in result)
    .map((result) => result.url);
  const options = fc
    .record({
      sessionIds: fc.constantFrom('tokens', 'names', 'off'),
      tidyQuery: fc.boolean(),
      stripWww: fc.boolean(),
      duplicateSlashes: fc.boolean(),
      stripIndexFiles: fc.boolean(),
      dropTrailingSlash: fc.boolean(),
      sortQuery: fc.boolean(),
    })
    .map((raw) => optionsSchema.parse(raw));

  it('is idempotent and gives canonical URLs, whatever the options', () => {
    fc.assert(
      fc.property(url, options, (input, chosen) => {
        const normalizer = createNormalizer(chosen);
        const once = normalizer(input);
        if (once === null) return;
        expect(canonicalUrl(once)).toEqual({ url: once });
        expect(normalizer(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  it('takes no time over a URL that is all session ids', () => {
    const nested = `http://a.org/${';jsess'.repeat(80)}ionid=1${'ionid=1'.repeat(80)}?${'&sid=1'.repeat(120)}`;
    expect(normalize(nested, EVERYTHING)).not.toBeNull();
  });
});

describe('explain', () => {
  it('names the rules that change something, in their order, and ends where normalize does', async () => {
    const basic = await testPlugin(plugin, { options: { stripIndexFiles: true, sortQuery: true } });
    const url = 'http://a.org/x;jsessionid=0123456789/index.html?utm_source=m&b=2&a=1';
    const steps = basic.explain?.(url) ?? [];
    expect(steps.map(({ rule }) => rule)).toEqual(['sessionIds', 'stripIndexFiles', 'dropQueryParams', 'sortQuery']);
    expect(steps.at(-1)?.after).toBe(basic.normalize(url));
    expect(basic.explain?.('http://a.org/plain')).toEqual([]);
  });
});
