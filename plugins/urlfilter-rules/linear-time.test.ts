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
  const filter = createRuleFilter(rules, LENGTH);
  return (url) => !filter.filter(url, CONTEXT).accept;
}

function msOf(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

/** A part of a pattern, and where its matches in `text` may end when they begin at one of `starts`. */
interface Part {
  readonly source: string;
  readonly ends: (text: string, starts: ReadonlySet<number>) => Set<number>;
}

const character = (source: string): Part => ({
  source,
  ends: (text, starts) => {
    const one = new RegExp(`^${source}$`);
    return new Set([...starts].filter((at) => one.test(text.charAt(at))).map((at) => at + 1));
  },
});

const anyOf = (parts: readonly Part[]): Part => ({
  source: parts.map(({ source }) => source).join('|'),
  ends: (text, starts) => new Set(parts.flatMap(({ ends }) => [...ends(text, starts)])),
});

const inOrder = (parts: readonly Part[]): Part => ({
  source: parts.map(({ source }) => source).join(''),
  ends: (text, starts) => parts.reduce((at, { ends }) => ends(text, at), new Set(starts)),
});

/** `part` as often as `sign` says: `''`, `*`, `+`, `?` or `{2,3}`. */
const repeated = (part: Part, sign: string): Part => ({
  source: part.source + sign,
  ends: (text, starts) => {
    const least = { '': 1, '*': 0, '+': 1, '?': 0, '{2,3}': 2 }[sign]!;
    const most = { '': 1, '*': text.length, '+': text.length + 1, '?': 1, '{2,3}': 3 }[sign]!;
    let at = new Set(starts);
    const ends = new Set(least === 0 ? at : []);
    for (let times = 1; times <= most; times += 1) {
      at = part.ends(text, at);
      if (times >= least) for (const end of at) ends.add(end);
    }
    return ends;
  },
});

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

  // JavaScript's engine is no measure here: it needs minutes for some of these, and misses matches of nested counts.
  it('made up of any parts matches what the definition of its parts says, and takes no long time', () => {
    const { regex } = fc.letrec<{ regex: Part; sequence: Part; part: Part }>((tie) => ({
      regex: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map(anyOf),
      sequence: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map(inOrder),
      part: fc
        .oneof(
          { depthSize: 'small' },
          fc.tuple(
            fc.constantFrom('a', 'b', '.', '[ab]', '[^a]').map(character),
            fc.constantFrom('', '', '*', '+', '?'),
          ),
          fc.tuple(
            tie('regex').map((part) => ({ ...part, source: `(?:${part.source})` })),
            fc.constantFrom('', '*', '+', '?', '{2,3}'),
          ),
        )
        .map(([part, sign]) => repeated(part, sign)),
    }));
    fc.assert(
      fc.property(regex, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), ({ source, ends }, text) => {
        const matches = matcherOf(`^(?:${source})!$`);
        expect(matches(`${text}!`)).toBe(ends(text, new Set([0])).has(text.length));
        expect(msOf(() => matches((text || 'a').repeat(1000).slice(0, 1000)))).toBeLessThan(MAX_MS);
      }),
      { numRuns: 1500 },
    );
  });

  it('decides alike whether it stands among few rules or many', () => {
    const patterns = Array.from({ length: 170 }, (_, i) => `/page-${i}$`);
    const { rules } = readRules([...patterns.map((pattern) => `-${pattern}`), '+/page', '-.'].join('\n'), 'r.txt');
    const filter = createRuleFilter(rules, LENGTH);
    const reasonFor = (path: string): string | undefined => filter.filter(`http://a.org${path}`, CONTEXT).reason;
    for (const i of [0, 49, 50, 99, 100, 169]) expect(reasonFor(`/page-${i}`)).toBe(`rule line ${i + 1}: -/page-${i}$`);
    expect(reasonFor('/page-170')).toBe('rule line 171: +/page');
    expect(reasonFor('/x')).toBe('rule line 172: -.');
  });
});
