import { deepStrictEqual } from 'node:assert';
import { parseLinkHeader } from '../../../../plugins/parse-html/link-header.ts';
import { readYamlSettings, type Setting } from '../../../../src/core/config/yaml-settings.ts';
import {
  joinedFields,
  MAX_RETRY_AFTER_MS,
  parseHttpDate,
  parseRetryAfter,
} from '../../../../src/core/domain/crawl/headers/header-fields.ts';
import { conditionalHeaders, validatorsOf } from '../../../../src/core/domain/crawl/headers/ladder.ts';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../../src/core/domain/errors.ts';
import { matcherOf } from '../../../../src/core/domain/query/expression.ts';
import { parseExpression } from '../../../../src/core/domain/query/parse.ts';
import {
  canonicalUrl,
  explainCanonicalUrl,
  MAX_URL_LENGTH,
} from '../../../../src/core/domain/url/canonical/canonical-url.ts';
import { hostOf, urlFromKey, urlKey } from '../../../../src/core/domain/url/canonical/url-key.ts';
import { contentCodings } from '../../../../src/http/exchange/content-coding.ts';
import {
  comparablePath,
  comparablePattern,
  parseRobots,
  robotsLines,
} from '../../../../src/http/robots/robots-reader.ts';
import { isMatchedByPattern } from './robots-reference.ts';
import { type FuzzTarget, holds, textOf } from './target.ts';

const NOW = Date.UTC(2026, 0, 1);

const robots: FuzzTarget = {
  name: 'robots',
  stepsPerByte: 1_300,
  words: [
    ...[
      'User-agent: *\n',
      'User-agent: incrawl\r',
      'Disallow: /',
      'Allow: /',
      '*',
      '$',
      '\n',
      '\r\n',
      ' # c',
      '%2f',
      '%e4',
    ],
    ...[
      'Crawl-delay: 1e9\n',
      'Crawl-delay: -1\n',
      'Sitemap: ',
      'http://a.example/s.xml',
      '\0',
      '\xef\xbb\xbf',
      ':',
      'a',
      'b/',
    ],
  ],
  check(input) {
    const text = textOf(input);
    const parsed = parseRobots(text, 'incrawl');
    const again = parseRobots(text, 'incrawl');
    const lines = new Map(robotsLines(text).map(({ line, value }) => [line, value] as const));
    // Beyond some 32,000 characters, rules with wildcards are cut.
    const wild = [...lines.values()].filter((value) => value.includes('*'));
    const wildcardChars = wild.reduce((sum, value) => sum + comparablePattern(value).length, 0);
    const { crawlDelay, sitemaps } = parsed;
    holds(crawlDelay === null || (crawlDelay >= 0 && crawlDelay <= 86_400), 'a delay is at most a day', crawlDelay);
    holds(sitemaps.length <= 1_000, 'a bounded number of sitemaps', sitemaps.length);
    for (const path of ['/', '/a', '/a/b', '/ab$', '/b?a*b', '/%2Fa', '/ab/ba/aab', `/${'ab'.repeat(200)}`]) {
      const { allowed, rule } = parsed.decide(path);
      deepStrictEqual(again.decide(path), { allowed, rule }, 'the same each time');
      if (rule === null) {
        holds(allowed, 'without a rule all is allowed', path);
        continue;
      }
      if (wildcardChars > 30_000) continue;
      const fits = isMatchedByPattern(comparablePattern(lines.get(rule.line) ?? ''), comparablePath(path));
      holds(fits, 'the rule that decides fits the path', rule, path);
    }
  },
};

const url: FuzzTarget = {
  name: 'url',
  stepsPerByte: 30,
  words: [
    ...'http:// HTTPS:// // user:p@ a.example A.Example. 127.1 [::1] xn--mnchen-3ya.de :80 :443 :99999 / ? # .. ./ %2e'.split(
      ' ',
    ),
    ...[
      '%41',
      '%zz',
      '%',
      '%c3%a4',
      '\xc3\xa4',
      '\t',
      '\n',
      ' ',
      '\\',
      '|',
      '^',
      '{}',
      ';',
      '&',
      '=',
      '+',
      '\0',
      '\xff',
      "'",
      '`',
    ],
  ],
  check(input) {
    const text = textOf(input);
    for (const base of [undefined, 'https://b.example/x/y?z']) {
      const result = canonicalUrl(text, base);
      const last = explainCanonicalUrl(text, base).at(-1);
      if ('error' in result) {
        deepStrictEqual(last?.after, null, 'a refusal is explained');
        continue;
      }
      const { url: canonical } = result;
      deepStrictEqual(last?.after ?? text, canonical, 'the last step gives the URL');
      deepStrictEqual(canonicalUrl(canonical), { url: canonical }, 'a canonical URL is its own');
      holds(canonical.length <= MAX_URL_LENGTH, 'bounded', canonical.length);
      holds(/^https?:\/\/[^/@\s#]+\/[^\s#]*$/.test(canonical), 'no userinfo, no fragment, no space', canonical);
      deepStrictEqual(new URL(canonical).href.length > 0, true);
      deepStrictEqual(urlFromKey(urlKey(canonical)), canonical, 'back from its key');
      holds(canonical.startsWith(`${canonical.split(':')[0]}://${hostOf(canonical)}/`), 'its host', canonical);
    }
  },
};

const query: FuzzTarget = {
  name: 'query',
  stepsPerByte: 300,
  words: [
    ...'( ) and or not && || ! = != < <= > >= ~ like in , url host state title failures due "a" \'b\' 30d 5KiB now'.split(
      ' ',
    ),
    ...[
      ' ',
      ' and ',
      ' or ',
      'metadata.x',
      '"',
      '\\',
      'null',
      'true',
      '2026-01-01',
      '1e9',
      '-',
      '/(a+)+$/',
      '%',
      '_',
      '\0',
    ],
  ],
  check(input) {
    const text = textOf(input);
    const parse = (each: string): unknown => {
      try {
        // Fields have functions, which are equal to none but themselves.
        return JSON.stringify(parseExpression(each, NOW));
      } catch (error) {
        holds(error instanceof CrawlError && error.code === 'usage-invalid', 'a mistake is said', String(error));
        return null;
      }
    };
    const expression = parse(text);
    deepStrictEqual(parse(text), expression, 'the same each time');
    if (expression === null) return;
    deepStrictEqual(parse(` ${text} `), expression, 'space around it means nothing');
    const inBrackets = parse(`(${text})`);
    // Brackets nest to a bound.
    if (inBrackets !== null) deepStrictEqual(inBrackets, expression, 'brackets around it mean nothing');
    const env = { now: NOW, domainOf: (host: string) => host };
    const matches = matcherOf(parseExpression(text, NOW), env);
    const datum = {
      ...newDatum({ url: 'https://a.example/x', now: NOW, intervalMs: 1 }),
      title: `${'a'.repeat(60)}b`,
    };
    holds(typeof matches(datum) === 'boolean', 'a verdict');
    const negated = parse(`not (${text})`);
    if (negated !== null) {
      const isNot = matcherOf(parseExpression(`not (${text})`, NOW), env)(datum);
      deepStrictEqual(isNot, !matches(datum), 'not is the opposite');
    }
  },
};

/** A setting whose function is replaced by what it says of the first part. */
const withPlace = ({ placeOf, ...setting }: Setting) => ({ ...setting, place: placeOf?.([0]) });

const yaml: FuzzTarget = {
  name: 'yaml',
  stepsPerByte: 350,
  // Each alias, of a hundred at most, is looked for in the whole file: some 250 steps a byte.
  moreSteps: (input) => 300 * Math.min(100, input.filter((byte) => byte === 0x2a).length) * (input.length + 256),
  words: [
    ...[
      'fetch:\n',
      '  delay: ',
      '5s',
      '\n',
      '- ',
      ': ',
      '&a ',
      '*a',
      '<<: ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '|\n',
      '>\n',
      '#c',
    ],
    ...[
      '!!binary ',
      '!!js/function ',
      '? ',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '\t',
      '  ',
      '\0',
      '__proto__: 1\n',
      '~',
      '0o17',
      '.inf',
    ],
  ],
  check(input) {
    const text = textOf(input);
    const read = readYamlSettings(text, 'x.yaml');
    const again = readYamlSettings(text, 'x.yaml');
    deepStrictEqual(again.settings.map(withPlace), read.settings.map(withPlace), 'the same each time');
    // How deep a file is read hangs on the stack that is left, and with it which faults are found in a very deep one.
    deepStrictEqual(again.errors.length > 0, read.errors.length > 0, 'faults each time, or never');
    holds(read.errors.length <= input.length + 1, 'no more faults than bytes', read.errors.length);
    holds(read.errors.join('\n').length <= 64 * 1024, 'messages are bounded', read.errors.length);
    holds(read.settings.length <= input.length, 'no more settings than bytes', read.settings.length);
    holds(!('polluted' in {}) && Object.keys(Object.prototype).length === 0, 'prototypes stay as they are');
  },
};

const headers: FuzzTarget = {
  name: 'headers',
  stepsPerByte: 60,
  words: [
    ...[
      'Retry-After: ',
      '120',
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      '\n',
      'ETag: W/"x"',
      '"',
    ],
    ...[
      'Link: ',
      '</a>; rel="next"',
      '; rel=',
      ',',
      '<',
      '>',
      'Content-Encoding: gzip',
      ', br',
      'x-robots-tag: ',
      'noindex',
    ],
    ...[
      'Last-Modified: ',
      'Content-Length: ',
      '9007199254740993',
      '-1',
      '\0',
      '\r',
      '\x85',
      '__proto__: x',
      'a\\"b',
      ';',
      '=',
    ],
  ],
  check(input) {
    // Parsers of HTTP refuse NUL and CR in a field.
    const lines = input
      .toString('latin1')
      .replaceAll(/[\0\r]/g, '')
      .split('\n');
    const fields = joinedFields(
      lines.flatMap((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1).trim()]),
    );
    deepStrictEqual(joinedFields(Object.entries(fields).flat()), fields, 'joined fields stay as they are');
    for (const value of [...Object.values(fields), ...lines]) {
      const until = parseRetryAfter(value, NOW);
      holds(until === null || (until >= NOW && until <= NOW + MAX_RETRY_AFTER_MS), 'a pause is bounded', value, until);
      const date = parseHttpDate(value);
      if (date !== null) deepStrictEqual(parseHttpDate(new Date(date).toUTCString()), date, 'a date and its text');
      const links = parseLinkHeader(value);
      holds(links.length <= 100, 'a bounded number of links', links.length);
      holds(links.reduce((sum, { href }) => sum + href.length, 0) <= value.length, 'links are parts of the field');
      try {
        holds(contentCodings(value).length <= 2, 'two codings at most');
      } catch (error) {
        holds(
          error instanceof CrawlError && error.code === 'content-undecodable',
          'a coding is refused',
          String(error),
        );
      }
    }
    const validators = validatorsOf(fields);
    for (const [name, value] of Object.entries(conditionalHeaders(validators)))
      holds(!/[\r\n\0]/.test(value), 'nothing is smuggled into a request', name, value);
  },
};

export const TEXT_TARGETS: readonly FuzzTarget[] = [robots, url, query, yaml, headers];
