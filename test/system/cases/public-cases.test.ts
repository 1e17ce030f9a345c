import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalUrl } from 'incrawl/plugin';
import { describe, expect, it } from 'vitest';
import { createNormalizer } from '../../../plugins/urlnormalizer-basic/normalizer.ts';
import { type Options, optionsSchema } from '../../../plugins/urlnormalizer-basic/options.ts';
import { parseHttpDate } from '../../../src/core/domain/crawl/headers/header-fields.ts';
import { sniffEncoding } from '../../../src/core/plugin-host/parsing/decode.ts';
import { isAddressBlocked } from '../../../src/http/guard/address-guard.ts';
import { checkRobots } from '../../../src/http/robots/robots.ts';
import { decodeRobots } from '../../../src/http/robots/robots-fetch.ts';

const folder = process.env.INCRAWL_CASES ?? '';
const isMissing = folder === '' || !existsSync(folder);
const casesOf = <Case>(name: string): readonly Case[] =>
  isMissing ? [] : (JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Case[]);

describe.skipIf(isMissing)('public cases (skipped unless INCRAWL_CASES names their folder)', () => {
  it('of encodings that a page declares', () => {
    const cases = casesOf<{ id: string; data_b64: string; encoding: string }>('encoding');
    const wrong = cases.filter(({ data_b64, encoding }) => {
      const bytes = Uint8Array.from(Buffer.from(data_b64, 'base64'));
      const found = sniffEncoding(bytes, { contentType: null, kind: 'html' }) ?? 'windows-1252';
      return found !== encoding.toLowerCase();
    });
    expect(wrong.map(({ id, data_b64 }) => [id, Buffer.from(data_b64, 'base64').toString('latin1')])).toEqual([]);
  });

  it('of dates in header fields', () => {
    for (const { in: text, out } of casesOf<{ in: string; out: string | null }>('http-dates')) {
      expect(parseHttpDate(text), text).toBe(out === null ? null : Date.parse(out));
    }
  });

  it('of addresses that are not public', () => {
    const cases = casesOf<{ url: string; blocked: boolean }>('ssrf-urls');
    expect(cases.filter(({ url, blocked }) => isAddressBlocked(url) !== blocked)).toEqual([]);
  });

  describe('of robots.txt', () => {
    interface Case {
      readonly id: string;
      readonly class: string;
      readonly robots?: string;
      readonly robots_b64?: string;
      readonly agent: string | string[];
      readonly url: string;
      readonly allowed: boolean;
    }
    const cases = casesOf<Case>('robots');
    const ofClass = (kind: string): readonly Case[] => cases.filter((each) => each.class === kind);
    const failed = (kind: string): string[] =>
      ofClass(kind)
        .filter(({ robots, robots_b64, agent, url, allowed }) => {
          const text = robots ?? decodeRobots(Buffer.from(robots_b64 ?? '', 'base64'));
          return checkRobots({ robots: text, agent: [agent].flat()[0] ?? '', url }).allowed !== allowed;
        })
        .map(({ id }) => id);
    const share = (kind: string): number => failed(kind).length / ofClass(kind).length;

    it('core: all', () => expect(failed('core')).toEqual([]));
    it('lenient: at least 90 %', () => expect(share('lenient')).toBeLessThanOrEqual(0.1));
    it('google: at least 90 %', () => expect(share('google')).toBeLessThanOrEqual(0.1));
  });

  describe('of canonical URLs', () => {
    interface Case {
      readonly id: string;
      readonly class: string;
      readonly in: string;
      readonly out: string | null;
    }
    const cases = casesOf<Case>('normalize');
    const canonical = (input: string): string | null => {
      const result = canonicalUrl(input);
      return 'url' in result ? result.url : null;
    };
    const normalized = (input: string, options: Partial<Options>): string | null => {
      const url = canonical(input);
      return url === null ? null : createNormalizer(optionsSchema.parse(options))(url);
    };
    const wrong = (classes: readonly string[], apply: (input: string) => string | null): unknown[] =>
      cases
        .map((each) => ({ ...each, got: apply(each.in) }))
        .filter((each) => classes.includes(each.class) && each.got !== each.out);

    it('meets every case of the classes that the canonical form decides', () => {
      // The rest are options of plugins.
      expect(wrong(['core', 'escape-strict', 'host-dot', 'invalid'], canonical)).toEqual([]);
    });

    it.each<[string, Partial<Options>]>([
      ['core', {}],
      ['session-id', { sessionIds: 'names' }],
      ['default-page', { stripIndexFiles: true }],
      ['double-slash', { duplicateSlashes: true }],
      ['query', { sortQuery: true }],
      ['cleanup', { duplicateSlashes: true }],
    ])('urlnormalizer-basic meets class %s with %j', (name, options) => {
      // Fragments are never kept, and other schemes never crawled.
      const isDecided = ({ in: input, out }: Case): boolean => !out?.includes('#') && !input.startsWith('file:');
      expect(wrong([name], (input) => normalized(input, options)).filter((each) => isDecided(each as Case))).toEqual(
        [],
      );
    });

    it.each<[string, (input: string) => string | null]>([
      ['the canonical form', canonical],
      [
        'urlnormalizer-basic with everything on',
        (input) =>
          normalized(input, {
            sessionIds: 'names',
            stripWww: true,
            duplicateSlashes: true,
            stripIndexFiles: true,
            dropTrailingSlash: true,
            sortQuery: true,
          }),
      ],
    ])('%s is idempotent on every answer', (_name, apply) => {
      for (const { in: input, out } of cases) {
        for (const text of [input, out ?? '']) {
          const url = apply(text);
          if (url !== null) expect(apply(url)).toBe(url);
        }
      }
    });
  });
});
