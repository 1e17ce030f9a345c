import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backtrackingFault } from './backtracking.ts';
import type { CharacterSet } from './character-set.ts';
import { type Pattern, readPattern } from './pattern.ts';

function faultOf(source: string, maxUrlLength = 2048): string | undefined {
  return backtrackingFault(readPattern(source, false), maxUrlLength);
}

describe('backtrackingFault', () => {
  it.each([
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
    '(?:/a*a*)+',
    '(a|a)*',
    '(a|ab)*',
    '(?:a|[a-c]d)+',
    '(?:\\w|\\d)+x',
    '((?:a|b)+c?)+',
    '(?=(?:a+)+b)',
    '(?<x>a+)+',
    '(a)(?:\\1|a)*',
  ])('finds the repetition that is ambiguous in %s', (source) => {
    expect(faultOf(source)).toMatch(/in a repetition|inside a repetition|of something that may be empty/);
  });

  it.each([
    'a.*b.*c.*d',
    '.+.+x',
    'x.*a[^/]*$',
    '(/.+?)\\1{2,}',
    '(?:(?!.*a.*b).)*c',
    'a?'.repeat(30) + 'a'.repeat(30),
  ])('finds that %.40s multiplies', (source) => {
    expect(faultOf(source)).toContain('too many repetitions');
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
    '(?:(?!x).)*y',
    '^(?!.*foo).*bar',
    '(/[^/]+)/[^/]+\\1/[^/]+\\1/',
    '/calendar/.*\\d{4}',
    '[0-9a-f]{32}',
    '(?:a|b)*a',
    '(\\d+)-(\\d+)\\.html',
    '\\.(?:gif|jpe?g|png|tiff?)(?:\\?|$)',
    '^[^?]*a[^b]*b[^c]*c',
    '[\\]a-c-]+\\x41\\u0042',
  ])('lets %s pass', (source) => {
    expect(faultOf(source)).toBeUndefined();
  });

  it('allows more where URLs are short', () => {
    expect(faultOf('a.*b.*c')).toBeDefined();
    expect(faultOf('a.*b.*c', 512)).toBeUndefined();
  });

  it('never lets a pattern pass that takes exponential time', () => {
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
    const subject = fc.constantFrom('a'.repeat(22), 'ab'.repeat(11), 'b'.repeat(22), 'aab'.repeat(7));
    fc.assert(
      fc.property(regex, subject, (source, text) => {
        const pattern = readPattern(`${source}!`, false);
        if (backtrackingFault(pattern, 2048) !== undefined) return;
        // Five choices among 22 places, times the size of the pattern; an exponential one needs millions.
        expect(stepsOf(pattern, text, 600_000)).toBeLessThan(600_000);
      }),
      { numRuns: 1500 },
    );
  });

  it('is told apart from the exponential by the same measure', () => {
    expect(stepsOf(readPattern('(?:a+)+!', false), 'a'.repeat(22), 600_000)).toBe(600_000);
  });
});

/** Steps of a plain backtracking matcher over all beginnings, cut off at `limit`. */
function stepsOf(pattern: Pattern, text: string, limit: number): number {
  let steps = 0;
  const match = (node: Pattern, at: number, then: (at: number) => boolean): boolean => {
    if (++steps >= limit) return true;
    switch (node.kind) {
      case 'character':
        return at < text.length && contains(node.set, text.charCodeAt(at)) && then(at + 1);
      case 'choice':
        return node.options.some((option) => match(option, at, then));
      case 'sequence':
        return matchItems(node.items, 0, at, then);
      case 'repeat':
        return matchTurns(node, 0, at, then);
      default:
        throw new TypeError(`${node.kind} is not part of this test`);
    }
  };
  const matchItems = (items: readonly Pattern[], index: number, at: number, then: (at: number) => boolean): boolean =>
    index === items.length ? then(at) : match(items[index]!, at, (next) => matchItems(items, index + 1, next, then));
  const matchTurns = (
    node: Pattern & { kind: 'repeat' },
    turn: number,
    at: number,
    then: (at: number) => boolean,
  ): boolean => {
    const again = (next: number): boolean => (next > at || turn < node.min) && matchTurns(node, turn + 1, next, then);
    return (turn < node.max && match(node.body, at, again)) || (turn >= node.min && then(at));
  };
  for (let start = 0; start < text.length && steps < limit; start++) match(pattern, start, () => false);
  return Math.min(steps, limit);
}

function contains(set: CharacterSet, code: number): boolean {
  return ((set >> BigInt(code)) & 1n) === 1n;
}
