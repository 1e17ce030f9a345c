import { testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

const [DIRECTORIES, TAILS] = [10, 30];
/** A site of D directories with T pages each: all of them real. */
const SITE = Array.from(
  { length: DIRECTORIES * TAILS },
  (_, i) => `http://a.org/dir${'abcdefghij'[i % DIRECTORIES]}/2015/page${Math.floor(i / DIRECTORIES)}.html`,
);

async function judged(options: Record<string, unknown>, urls: readonly string[], known: readonly string[] = []) {
  const filter = await testPlugin(plugin, { options });
  for (const url of known) filter.learn?.(url);
  const verdicts = urls.map((url) => filter.admit?.(url));
  return {
    verdicts,
    admitted: verdicts.filter((verdict) => verdict?.admit === true && verdict.demote === undefined).length,
    deferred: verdicts.filter((verdict) => verdict?.admit === true && verdict.demote !== undefined).length,
    dropped: verdicts.filter((verdict) => verdict?.admit === false).length,
  };
}

describe('a templated site', () => {
  it('loses nothing by default: what is not admitted is put off', async () => {
    const { admitted, deferred, dropped } = await judged({ quota: 12 }, SITE);
    expect({ admitted, deferred, dropped }).toEqual({
      admitted: 12 * DIRECTORIES,
      deferred: (TAILS - 12) * DIRECTORIES,
      dropped: 0,
    });
  });

  it('keeps D + T - 1 pages at most as published, and says of the rest why', async () => {
    const { admitted, dropped, verdicts } = await judged({ mode: 'published' }, SITE);
    expect(admitted).toBeLessThanOrEqual(DIRECTORIES + TAILS - 1);
    expect(admitted + dropped).toBe(SITE.length);
    expect(verdicts.at(-1)).toMatchObject({
      reason: expect.stringMatching(/^similar to known URLs: site \d+, depth 4/),
    });
  });

  it('a fifth feature lets more in', async () => {
    const years = SITE.map((url, i) => url.replace('2015', String(2000 + i)));
    const { admitted } = await judged(
      { mode: 'published', features: ['site', 'depth', 'directory', 'tail', 'segment:3'] },
      years,
    );
    expect(admitted).toBe(SITE.length);
  });
});

it.each([
  [{}, 0],
  // Ten tail pages that the first 200 URLs do not have.
  [{ mode: 'published' }, 10],
])('what the crawl db has counts after a restart (%j)', async (options, atMost) => {
  const { admitted, deferred, dropped } = await judged({ ...options, quota: 5 }, SITE.slice(200), SITE.slice(0, 200));
  expect(admitted).toBeLessThanOrEqual(atMost);
  expect(admitted + deferred + dropped).toBe(100);
});

it('explains the features of a URL', async () => {
  const filter = await testPlugin(plugin, {});
  const context = { from: null, depth: 0, seedHosts: new Set<string>() };
  expect(filter.filter('http://a.org/news/2015/9.html', context)).toEqual({
    accept: true,
    reason: 'signature a.org|4|news|#.html',
  });
});

it('refuses features that it does not have', async () => {
  await expect(testPlugin(plugin, { options: { mode: 'published', features: ['colour'] } })).rejects.toThrow(
    /segment:3/,
  );
});
