import fc from 'fast-check';
import type { PluginHost } from 'incrawl/plugin';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

const CONTEXT = { from: null, depth: 1, seedHosts: new Set<string>() };
const host = { now: () => Date.UTC(2026, 10, 21) } as PluginHost;

async function reasonOf(url: string, options: Record<string, unknown> = {}): Promise<string | null> {
  const filter = await plugin.setup(host, plugin.options!.parse(options));
  return filter.filter(url, CONTEXT).reason ?? null;
}

describe('urlfilter-traps', () => {
  it.each<[string, string]>([
    [`http://a.org/${'x'.repeat(1_500)}`, 'URL longer than 1500 characters: 1513'],
    [`http://a.org${'/x'.repeat(21)}`, 'path with more than 20 segments: 21'],
    ['http://a.org/en/en/en/', 'path repeats itself: "en" 3 times in a row'],
    ['http://a.org/x/docs/api/docs/api/docs/api?v=1', 'path repeats itself: "docs/api" 3 times in a row'],
    ['http://a.org/1/news/2/news/3/news/4/news', 'path with a segment more than 3 times: "news"'],
    [
      `http://a.org/?${Array.from({ length: 31 }, (_, i) => `p${i}=1`).join('&')}`,
      'query with more than 30 parameters: 31',
    ],
    ['http://a.org/?f=a&f=a&p=1&f=a&f=a', 'query with a parameter more than 3 times: "f=a"'],
    ['http://a.org/events/2029/1/', 'calendar more than 2 years ahead: 2029'],
    ['http://a.org/events/2029-01-31', 'calendar more than 2 years ahead: 2029'],
    ['http://a.org/cal?view=day&date=2031-5-17', 'calendar more than 2 years ahead: 2031'],
    ['http://a.org/cal?month=2031-05', 'calendar more than 2 years ahead: 2031'],
    ['http://a.org/cal?tribe-year=2031&x=1', 'calendar more than 2 years ahead: 2031'],
    ['http://a.org/events/1805/12/01', 'calendar more than 150 years back: 1805'],
  ])('%s: %s', async (url, reason) => {
    expect(await reasonOf(url)).toBe(reason);
  });

  it.each([
    'http://a.org/',
    'http://a.org/en/docs/api/docs/api/x',
    'http://a.org/0/0/0/0/0/7.html',
    'http://a.org/a/a/a/a/',
    'http://a.org/2011/11/11/11/11/',
    'http://a.org/1/news/2/news/3/news',
    'http://a.org/events/2028/12/31/',
    'http://a.org/archive/1890/05/',
    'http://a.org/products/2999/',
    'http://a.org/2999/99/',
    'http://a.org/?id=20310517&year=&year2=x&q=2031',
    'http://a.org/?f[]=a&f[]=b&f[]=c&f[]=d',
    'http://a.org/?a&&&&&&b',
  ])('%s stays', async (url) => {
    expect(await reasonOf(url)).toBeNull();
  });

  it('limits move and are switched off by 0', async () => {
    expect(await reasonOf('http://a.org/en/en/', { maxRunRepeats: 1 })).toContain('"en" 2 times');
    const off = Object.fromEntries(Object.keys(plugin.options!.parse({}) as object).map((name) => [name, 0]));
    const worst = `http://a.org${'/en'.repeat(30)}/2999/01/${'x'.repeat(1_800)}?${'a=1&'.repeat(40)}`;
    expect(await reasonOf(worst, off)).toBeNull();
  });

  it('finds every run that follows on itself often enough, and none else', async () => {
    const filter = await plugin.setup(host, plugin.options!.parse({ maxSegmentRepeats: 0, maxSegments: 0 }));
    const word = fc.constantFrom('ab', 'cd', 'ef');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (segments) => {
        const path = `/${segments.join('/')}`;
        const expected = /((?:\/[a-z]+)+?)\1\1(?=\/|$)/.test(path);
        expect(filter.filter(`http://a.org${path}`, CONTEXT).accept).toBe(!expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes no time over hostile paths and queries', async () => {
    for (const url of [`http://a.org${'/ab'.repeat(490)}`, `http://a.org/?${'year=2'.repeat(240)}`]) {
      expect(await reasonOf(url, { maxSegments: 0, maxRunRepeats: 0, maxSegmentRepeats: 0 })).toBeNull();
    }
  });
});
