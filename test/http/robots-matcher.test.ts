import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRuleMatcher, type RuleMatcher } from '../../src/http/robots/robots-reader.ts';

const robotsParser = createRequire(import.meta.url)('robots-parser') as (url: string, text: string) => RuleMatcher;

const unit = fc.constantFrom('/', 'a', 'b', '.', '?');
const rule = fc.record({
  allowed: fc.boolean(),
  pattern: fc
    .tuple(fc.constantFrom('/', '*'), fc.string({ unit: fc.oneof(unit, fc.constant('*')) }), fc.constantFrom('', '$'))
    .map((parts) => parts.join('').replace(/\*{2,}/g, '*')),
});

it('gives the rule that robots-parser gives when it is asked about all of them', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), fc.array(fc.string({ unit }), { maxLength: 8 }), (rules, ends) => {
      const lines = rules.map(({ allowed, pattern }) => `${allowed ? 'allow' : 'disallow'}: ${pattern}`);
      const whole = robotsParser('http://a.org/robots.txt', ['user-agent: *', ...lines].join('\n'));
      const matches = createRuleMatcher(rules);
      for (const end of ends) {
        const { pathname, search } = new URL(`http://a.org/${end.replace(/^\/+/, '')}`);
        const line = whole.getMatchingLineNumber(`http://a.org${pathname}${search}`, '*');
        expect(matches(pathname + search)).toBe(line === -1 ? -1 : line - 2);
      }
    }),
    { numRuns: 2000 },
  );
});

it('decides alike where patterns and paths are so long that robots-parser is not asked', () => {
  const path = `/${'ab'.repeat(1000)}`;
  const matches = (pattern: string): boolean => createRuleMatcher([{ allowed: false, pattern }])(path) === 0;
  expect(matches(`/${'*ab'.repeat(500)}`)).toBe(true);
  expect(matches(`/${'*ab'.repeat(1000)}$`)).toBe(true);
  expect(matches(`/${'*ab'.repeat(1001)}`)).toBe(false);
  expect(matches(`/${'*ba'.repeat(1000)}$`)).toBe(false);
  expect(matches(`/${'*ba'.repeat(999)}*b$`)).toBe(true);
});

it('decides there as a regular expression does', () => {
  const long = `/${'x'.repeat(1_000)}`;
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 4 }), fc.boolean(), letters, (pieces, isAnchored, end) => {
      const pattern = `${long}${pieces.join('*')}${isAnchored ? '$' : ''}`.replace(/\*{2,}/g, '*');
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}`).test(long + end);
      expect(createRuleMatcher([{ allowed: false, pattern }])(long + end)).toBe(expected ? 0 : -1);
      expect(createRuleMatcher([{ allowed: false, pattern }])(`/y${end}`)).toBe(-1);
    }),
    { numRuns: 2000 },
  );
});
