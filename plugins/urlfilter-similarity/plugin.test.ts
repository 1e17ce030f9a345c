import { definePlugin } from 'incrawl/plugin';
import { testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

const [DIRECTORIES, TAILS] = [10, 30];
/** A site of D directories with T pages each: all of them real. */
const SITE = Array.from(
  { length: DIRECTORIES * TAILS },
  (_, i) => `http://a.org/dir${'abcdefghij'[i % DIRECTORIES]}/2015/page${Math.floor(i / DIRECTORIES)}.html`,
);

const PUBLISHED = { mode: 'published' };

async function judged(options: Record<string, unknown>, urls: readonly string[], known: readonly string[] = []) {
  const filter = await testPlugin(plugin, { options });
  for (const url of known) filter.learn?.(url);
  const verdicts = urls.map((url) => filter.admit?.(url));
  return { verdicts, admitted: verdicts.filter((verdict) => verdict?.admit).length };
}

describe('families', () => {
  const familiesOf = async (url: string, options = {}) => {
    const filter = await testPlugin(plugin, { options });
    return filter.sharing?.familiesOf(url);
  };

  it.each([
    ['http://a.org/', ['a.org|', 'a.org']],
    ['http://a.org/docs/intro.html', ['a.org|docs', 'a.org']],
    ['http://a.org/news/2015/05/9.html', ['a.org|news/#/#|#.html', 'a.org|news/#/#', 'a.org|news', 'a.org']],
    ['http://a.org/shop/list?b=1&a=2', ['a.org|shop|list|b&a', 'a.org|shop|list', 'a.org|shop', 'a.org']],
    ['http://a.org/cal/2031/05/17/', ['a.org|cal/#/#|#', 'a.org|cal/#/#', 'a.org|cal', 'a.org']],
  ])('of %s', async (url, names) => {
    expect((await familiesOf(url))?.map(({ name }) => name)).toEqual(names);
  });

  it('have the quota, the site its own', async () => {
    const families = await familiesOf('http://a.org/x/y.html', { quota: 7, siteQuota: 9 });
    expect(families?.map(({ quota }) => quota)).toEqual([7, 9]);
  });

  it('are as configured', async () => {
    const families = await familiesOf('http://a.org/en/news/9', { families: [['site', 'segment:2', 'depth']] });
    expect(families?.map(({ name }) => name)).toEqual(['a.org|en|4', 'a.org']);
  });

  it('may go by a feature of another plugin', async () => {
    const other = definePlugin({
      name: 'urlfilter-language',
      api: 1,
      setup: () => ({
        filter: () => ({ accept: true as const }),
        features: { language: (segments) => (/^(en|de)$/.test(segments[1] ?? '') ? (segments[1] as string) : null) },
      }),
    });
    const { features = {} } = await testPlugin(other);
    const options = plugin.options?.parse({ families: [['site', 'language']] });
    if (options === undefined) throw new TypeError('the plugin has options');
    const filter = await plugin.setup(testHost, options);
    filter.useFeatures?.(features);
    const namesOf = (url: string) => filter.sharing?.familiesOf(url).map(({ name }) => name);
    expect(namesOf('http://a.org/de/x/y')).toEqual(['a.org|de', 'a.org']);
    expect(namesOf('http://a.org/x/y')).toEqual(['a.org']);
    expect(() => filter.useFeatures?.({})).toThrow(/"language"/);
  });
});

describe('as published', () => {
  it('keeps D + T - 1 pages at most, and says of the rest why', async () => {
    const { admitted, verdicts } = await judged(PUBLISHED, SITE);
    expect(admitted).toBeLessThanOrEqual(DIRECTORIES + TAILS - 1);
    expect(verdicts.at(-1)).toMatchObject({
      reason: expect.stringMatching(/^similar to known URLs: site \d+, depth 4/),
    });
  });

  it('a fifth feature lets more in', async () => {
    const years = SITE.map((url, i) => url.replace('2015', String(2000 + i)));
    const features = ['site', 'depth', 'directory', 'tail', 'segment:3'];
    expect((await judged({ ...PUBLISHED, features }, years)).admitted).toBe(SITE.length);
  });

  it('what the crawl db has counts after a restart', async () => {
    // Ten tail pages that the first 200 URLs do not have.
    expect((await judged(PUBLISHED, SITE.slice(200), SITE.slice(0, 200))).admitted).toBeLessThanOrEqual(10);
  });
});

it.each([
  [{}, 'families a.org|news/#|#.html, a.org|news/#, a.org|news, a.org'],
  [PUBLISHED, 'features site 166193, depth 4, directory 1084457, tail 728361'],
])('describes what it goes by (%j)', async (options, expected) => {
  const filter = await testPlugin(plugin, { options });
  expect(filter.describe?.('http://a.org/news/2015/9.html')).toBe(expected);
});

it.each([{ mode: 'published', features: ['color'] }, { families: [['site', 'color']] }])(
  'refuses features that nobody provides (%j)',
  async (options) => {
    await expect(testPlugin(plugin, { options })).rejects.toThrow(/"color"; expected .* segment:3/);
  },
);
