import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { isLike, matcherOf, narrowingOf } from '../../../../src/core/domain/query/expression.ts';
import { QUERY_FIELDS } from '../../../../src/core/domain/query/fields.ts';
import { parseExpression } from '../../../../src/core/domain/query/parse.ts';
import { visitedDatum } from '../../../contracts/crawl-db-exam.ts';

const NOW = Date.parse('2026-03-10T12:00:00Z');
const env = { now: NOW, domainOf: (host: string) => host.split('.').slice(-2).join('.') };

const page = visitedDatum('https://www.example.org:8080/Docs/a?x=1', {
  state: 'fetched',
  depth: 3,
  seed: false,
  score: 2.5,
  failures: 0,
  lastError: null,
  title: "It's a Title",
  lastFetchAt: Date.parse('2026-03-01T00:00:00Z'),
  nextFetchAt: null,
  fixedIntervalMs: null,
  schedule: {
    intervalMs: 86_400_000,
    belief: { changes: 2, watchedMs: 86_400_000, newUrls: 0, noise: 0, mostMs: null },
  },
  metadata: { 'a.b': 'x', n: 7, flag: false },
});

const says = (text: string, datum: CrawlDatum = page): boolean => matcherOf(parseExpression(text, NOW), env)(datum);

describe('--where', () => {
  it.each<[string, boolean]>([
    ['state = fetched', true],
    ['STATE == fetched', true],
    ['state is not gone', true],
    ['state != fetched', false],
    ['state in (gone, fetched)', true],
    ['state not in (gone, orphan)', true],
    ['host = www.example.org:8080', true],
    ['domain=org:8080', false],
    ['tld = org', true],
    ['scheme = https', true],
    ['depth > 2', true],
    ['depth>=3 and depth<4', true],
    ['depth < 3 or score = 2.5', true],
    ['not (depth = 3)', false],
    ['! depth = 4 && !seed', true],
    ['seed', false],
    ['seed = false', true],
    ['depth = 3 or depth = 4 and seed', true],
    ['(depth = 3 or depth = 4) and seed', false],
    ['title ~ title', true],
    ['title contains "a TITLE"', true],
    ['title !~ title', false],
    ['title !~ "a page"', true],
    ['title not !~ title', true],
    ['etag != x and url!~zzz', true],
    ["title = 'It''s a Title'", true],
    ['title like it*title', true],
    ['title like *titl', false],
    ['url like https://*/docs/*', true],
    ['url ~ x=1', true],
    ['url = https://www.example.org:8080/Docs/a?x=1', true],
    ['interval = 1d', true],
    ['interval >= 23h30m', true],
    ['interval < 86400', false],
    ['contentLength > 35KiB', true],
    ['contentLength <= 36864', true],
    ['lastFetchAt < now-9d', true],
    ['lastFetchAt > now-9d', false],
    ['lastFetchAt >= 2026-03-01', true],
    ['lastFetchAt < 2026-03-01T00:00:01', true],
    ['lastFetchAt <= 2026-03-01T01:00+01:00', true],
    // A missing value is in no order, equals null alone, and differs from all others.
    ['nextFetchAt < now', false],
    ['not nextFetchAt < now', true],
    ['nextFetchAt = null', true],
    ['nextFetchAt is not null', false],
    ['error != fetch-timeout', true],
    ['error in (null, fetch-timeout)', true],
    ['changesPerDay > 0.2', true],
    ['visitCount = 2 and changeCount = 1', true],
    ['outcome = modified and distance = 3', true],
    ['metadata.a.b = x', true],
    ['metadata.n > 6', true],
    ['metadata.flag = false', true],
    ['metadata.n = "7"', false],
    ['metadata.none = null', true],
    ['metadata.__proto__ = null', true],
  ])('%s', (text, expected) => {
    expect(says(text)).toBe(expected);
  });

  it.each<[string, string]>([
    ['', 'column 1: expected a field, got the end'],
    ['dept > 2', 'column 1: there is no field "dept"; did you mean depth?'],
    ['depth >', 'column 8: expected a number after depth >'],
    ['depth > deep', 'column 9: depth is compared with a number, got "deep"'],
    ['depth 3', 'column 7: expected an operator after depth (= != < <= > >= ~ !~ like in), got "3"'],
    ['depth ~ 3', 'column 7: "~" compares texts, and depth is not a text'],
    ['seed < true', 'column 6: "<" cannot compare seed'],
    ['state = gonne', 'column 9: no state is called "gonne"; did you mean gone?'],
    ['state = x', 'one of unfetched, fetched'],
    ['depth = 1 depth = 2', 'column 11: expected "and", "or" or the end, got "depth"'],
    ['(depth = 1', 'column 11: expected ")" for the "(" in column 1'],
    ['depth in 1', 'column 10: expected "(" and values'],
    ['depth in (1; 2)', 'column 11: depth is compared with a number, got "1;"'],
    ["title = 'open", "column 9: the quoted text that begins with ' is not closed"],
    ['lastFetchAt > yesterday', 'column 15: lastFetchAt is compared with a time'],
    ['lastFetchAt > now-3', 'a time such as'],
    ['depth > null', 'column 9: "null" is allowed with =, != and in only'],
    ['interval > 3x', 'a duration such as'],
    ['metadata. = 1', 'there is no field "metadata."'],
    [`${'('.repeat(60)}depth = 1${')'.repeat(60)}`, 'expected at most 50 levels'],
    [`title = ${'x'.repeat(5_000)}`, 'at most 4000 characters'],
    ['constructor = 1', 'there is no field "constructor"'],
  ])('%s is refused', (text, message) => {
    expect(() => parseExpression(text, NOW)).toThrow(
      expect.objectContaining({ code: 'usage-invalid', message: expect.stringContaining(message) }),
    );
  });

  it('whatever is written, it is read or refused with a column', () => {
    const words = fc.constantFrom(
      'depth',
      'state',
      'title',
      '=',
      '>',
      '~',
      'and',
      'or',
      'not',
      '(',
      ')',
      ',',
      'in',
      "'",
      '3',
      'gone',
      '!',
      'null',
      ' ',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words, { maxLength: 12 }).map((all) => all.join(' ')),
        ),
        (text) => {
          try {
            expect(typeof says(text)).toBe('boolean');
          } catch (error) {
            expect((error as Error).message).toMatch(/^where, column \d+: /);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('and, or, not are the logical operators', () => {
    type Tree = { text: string; value: boolean };
    const leaf = fc.nat(6).map((depth): Tree => ({ text: `depth = ${depth}`, value: depth === 3 }));
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(tie('tree'), tie('tree'))
          .map(([a, b]) => ({ text: `(${a.text}) and (${b.text})`, value: a.value && b.value })),
        fc
          .tuple(tie('tree'), tie('tree'))
          .map(([a, b]) => ({ text: `(${a.text}) or (${b.text})`, value: a.value || b.value })),
        tie('tree').map((a) => ({ text: `not (${a.text})`, value: !a.value })),
      ),
    }));
    fc.assert(
      fc.property(tree, ({ text, value }) => {
        expect(says(text)).toBe(value);
      }),
    );
  });

  it('like is the same as a regular expression with .*', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(letters, pattern, (text, like) => {
        expect(isLike(text, like)).toBe(new RegExp(`^${like.replaceAll('*', '.*')}$`).test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads each field of each record', () => {
    for (const field of QUERY_FIELDS) {
      const value = field.read(page, env);
      const type = { text: 'string', boolean: 'boolean' }[field.type as string] ?? 'number';
      expect([field.name, value === null || typeof value === type]).toEqual([field.name, true]);
    }
  });
});

describe('narrowing for an index', () => {
  it.each<[string, object]>([
    ['state = gone', { state: 'gone' }],
    ['state = gone and host = a.example and depth > 3', { state: 'gone', host: 'a.example' }],
    ['depth > 3 and (state = gone and failures > 0)', { state: 'gone', failing: true }],
    ['state in (gone)', { state: 'gone' }],
    ['state in (gone, orphan)', {}],
    ['state = gone or depth = 1', {}],
    ['not state = gone', {}],
    ['state != gone', {}],
    ['failures >= 1', { failing: true }],
    ['failures >= 0', {}],
    ['domain = example.org', { domain: 'example.org' }],
    ['domain = localhost:8080', {}],
    ['url like https://a.example/docs/*', { prefix: 'https://a.example/' }],
    ['url like https://*.example/', {}],
    ['url = https://a.example/x', { prefix: 'https://a.example/x' }],
    ['host = null', {}],
  ])('%s', (text, expected) => {
    expect(narrowingOf(parseExpression(text, NOW))).toEqual(expected);
  });
});
