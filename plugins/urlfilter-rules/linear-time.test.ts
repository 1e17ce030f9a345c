import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRuleFilter } from './rule-filter.ts';
import { readRules } from './rules.ts';

const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };
const LENGTH = 2048;
/** A backtracking engine needs minutes to centuries for the exponential patterns below, this one some milliseconds. */
const MAX_MS = 2_000;

const HOSTILE = ['a', 'ab', 'b', 'aab', 'a/', '/', 'a0', 'x'].map((part) => part.repeat(LENGTH).slice(0, LENGTH));

/** Whether `-pattern` keeps a URL out. */
function matcherOf(...patterns: string[]): (url: string) => boolean {
  const { rules } = readRules([...patterns.map((pattern) => `-${pattern}`), '+.'].join('\n'), 'r.txt');
  const ignore = (): void => {};
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const filter = createRuleFilter(rules, { maxUrlLength: LENGTH, slowRuleMs: MAX_MS, log, now: () => 0 });
  return (url) => !filter.filter(url, CONTEXT).accept;
}

function msOf(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

const MATCHED_IN_LINEAR_TIME = [
  '(a+)+',
  '(a*)*',
  '(?:a+)*b',
  '([a-z]+)*$',
  '(.*/)*',
  '(?:.*/){8}',
  '(aa?)*',
  '(?:a?){30}',
  '(?:a?a?)*',
  '(?:[a-z]+[0-9]*)*',
  '(?:a{1,20}){1,20}',
  '(a|a)*',
  '(a|ab)*',
  '(?:a|[a-c]d)+',
  '(?:\\w|\\d)+x',
  '(?:/a*a*)+',
  '((?:a|b)+c?)+',
  '(?<x>a+)+',
  'a.*b.*c.*d',
  '.+.+x',
  'x.*a[^/]*$',
  'a?'.repeat(30) + 'a'.repeat(30),
];

describe('a rule', () => {
  it.each(MATCHED_IN_LINEAR_TIME)('%.40s is matched in linear time', (pattern) => {
    const matches = matcherOf(`${pattern}!`);
    expect(msOf(() => expect(HOSTILE.some(matches)).toBe(false))).toBeLessThan(MAX_MS);
  });

  it('is matched in linear time beside all others', () => {
    const matches = matcherOf(...MATCHED_IN_LINEAR_TIME.map((pattern) => `${pattern}!`));
    expect(msOf(() => expect(HOSTILE.some(matches)).toBe(false))).toBeLessThan(MAX_MS);
  });

  it.each([
    ['(?=(?:a+)+b)', 'lookahead and lookbehind'],
    ['(?:(?!.*a.*b).)*c', 'lookahead and lookbehind'],
    ['(?:(?!x).)*y', 'lookahead and lookbehind'],
    ['^(?!.*foo).*bar', 'lookahead and lookbehind'],
    ['(?<=x)y', 'lookahead and lookbehind'],
    ['(a)(?:\\1|a)*', 'backreferences'],
    ['(/.+?)\\1{2,}', 'backreferences'],
    ['(/[^/]+)/[^/]+\\1/[^/]+\\1/', 'backreferences'],
    ['(?<n>a)\\k<n>', 'backreferences'],
    ['a++', 'possessive quantifiers'],
    ['(?>a)', 'atomic groups'],
    ['x\\Z', 'write $'],
    ['[\\]a-c-]+\\x41\\u0042', 'write \\x{HHHH}'],
    ['\\p{Alpha}', 'write [[:alpha:]]'],
    ['(?:(?:a{1000}){1000}){1000}', 'repeat count'],
  ])('%s is refused with its line and the reason', (pattern, reason) => {
    expect(() => matcherOf('a', pattern)).toThrow(
      `r.txt:2: "-${pattern}" is no regular expression that the filter can run: `,
    );
    expect(() => matcherOf('a', pattern)).toThrow(reason);
  });

  it.each([
    'a+b+c+',
    '(?:/[^/]+)+\\.html$',
    '^https?://(?:[a-z0-9-]+\\.)*example\\.org/',
    '^https?://([a-z0-9]*\\.)*example\\.org',
    '(?:[^/]*/)*x',
    '(?:jpg|png)+',
    '(?:foo|far)+',
    '(?:-?[a-z])*x',
    '[?*!@=]',
    '/calendar/.*\\d{4}',
    '[0-9a-f]{32}',
    '(?:a|b)*a',
    '(\\d+)-(\\d+)\\.html',
    '\\.(?:gif|jpe?g|png|tiff?)(?:\\?|$)',
    '^[^?]*a[^b]*b[^c]*c',
    '[\\]a-c-]+\\x41',
  ])("%s matches the URLs that JavaScript's engine matches", (pattern) => {
    const matches = matcherOf(pattern);
    const urls = [
      'http://www.example.org/a/b.html',
      'https://example.org/calendar/x/2026',
      'http://a.org/1-2.html?x=jpg',
      'http://a.org/aabbcc.gif',
      'http://a.org/foofar]A',
      'http://a.org/0123456789abcdef0123456789abcdef',
    ];
    expect(urls.map(matches)).toEqual(urls.map((url) => new RegExp(pattern).test(url)));
  });

  it("made up of any parts matches as JavaScript's engine does, and takes no long time", () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]');
    const { regex } = fc.letrec<{ regex: string; sequence: string; part: string }>((tie) => ({
      regex: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((options) => options.join('|')),
      sequence: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
      part: fc.oneof(
        { depthSize: 'small' },
        fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?')).map((pair) => pair.join('')),
        fc.tuple(tie('regex'), fc.constantFrom('', '*', '+', '?', '{2,3}')).map(([body, sign]) => `(?:${body})${sign}`),
      ),
    }));
    fc.assert(
      fc.property(regex, fc.constantFrom('a', 'ab', 'b', 'aab'), (source, part) => {
        const pattern = `^(?:${source})!$`;
        const matches = matcherOf(pattern);
        // Few characters: with six, the backtracking engine needs 20 s for some of these patterns.
        for (const text of [`${part.repeat(3).slice(0, 3)}!`, `${part}!`]) {
          expect(matches(text)).toBe(new RegExp(pattern).test(text));
        }
        expect(msOf(() => matches(part.repeat(1000).slice(0, 1000)))).toBeLessThan(MAX_MS);
      }),
      { numRuns: 1500 },
    );
  });

  it('decides alike whether it stands among few rules or many', () => {
    const patterns = Array.from({ length: 170 }, (_, i) => `/page-${i}$`);
    const { rules } = readRules([...patterns.map((pattern) => `-${pattern}`), '+/page', '-.'].join('\n'), 'r.txt');
    const ignore = (): void => {};
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const filter = createRuleFilter(rules, { maxUrlLength: LENGTH, slowRuleMs: MAX_MS, log, now: () => 0 });
    const reasonFor = (path: string): string | undefined => filter.filter(`http://a.org${path}`, CONTEXT).reason;
    for (const i of [0, 49, 50, 99, 100, 169]) expect(reasonFor(`/page-${i}`)).toBe(`rule line ${i + 1}: -/page-${i}$`);
    expect(reasonFor('/page-170')).toBe('rule line 171: +/page');
    expect(reasonFor('/x')).toBe('rule line 172: -.');
  });
});
