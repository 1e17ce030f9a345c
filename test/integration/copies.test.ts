import { expect, it } from 'vitest';
import type { ChangeView, Crawler } from '../../src/crawler/index.ts';
import { type Answer, seed, visiting } from './visiting.ts';

const sentence = (name: string, i: number): string =>
  `The committee of ${name} says that step ${i * 7919} of the project has to be reported before the end of the month ${i}.`;
/** What all pages of a template say, and what each says in short lines. */
const RULES = Array.from({ length: 12 }, (_, i) => `<p>${sentence('incubation', i)}</p>`).join('');
const facts = (name: string): string =>
  Array.from({ length: 60 }, (_, i) => `<tr><td>${name} fact ${i * 31}</td><td>${name}${i * 17} done</td></tr>`).join(
    '',
  );
const project = (name: string): string =>
  `<title>${name} status</title><h1>${name} status</h1>${RULES}<table>${facts(name)}</table>`;
const story = Array.from({ length: 20 }, (_, i) => `<p>${sentence('the story', i)}</p>`).join('');

interface Site {
  readonly pages: Record<string, string>;
  readonly answer: Answer;
}

function siteOf(pages: Record<string, string>): Site {
  return {
    pages,
    answer: ({ url = '' }, response) => {
      response.writeHead(pages[url] === undefined ? 404 : 200, { 'content-type': 'text/html' });
      response.end(pages[url] ?? 'none');
    },
  };
}

const PAGES = {
  '/': `<title>home</title>${story}${['a', 'b', 'story', 'copy'].map((path) => `<a href=/${path}>${path}</a> `).join('')}`,
  '/a': project('dubbo'),
  '/b': project('brpc'),
  '/story': `<title>story</title><h1>The story</h1>${story}`,
  '/copy': `<title>story</title><h1>The story</h1>${story}`,
};

async function changesOf(crawler: Crawler): Promise<ChangeView[]> {
  const changes: ChangeView[] = [];
  for await (const change of crawler.changes({ notedFrom: 0 })) changes.push(change);
  return changes;
}

async function exported(crawler: Crawler, withDuplicates?: true) {
  const lines: string[] = [];
  const outlet = { place: null, write: async (chunk: string | Uint8Array) => void lines.push(String(chunk)) };
  const summary = await crawler.export({ format: 'jsonl', ...(withDuplicates && { withDuplicates }) }, outlet);
  const urls = lines
    .join('')
    .trim()
    .split('\n')
    .map((line) => new URL((JSON.parse(line) as { url: string }).url).pathname);
  return { urls: urls.toSorted(), ...summary };
}

it('pages of one template are none of each other, copies are, and a start page is none', async () => {
  const { crawler, origin } = await visiting(siteOf(PAGES).answer);
  const { totals } = await crawler.crawl(seed(`${origin}/`));
  const near = (await crawler.near(`${origin}/a`, { distance: 3, limit: 9, scope: 'host' }))!;
  expect(near).toMatchObject([{ url: `${origin}/b` }]);
  expect(near[0]!.overlap).toBeLessThan(0.9);
  const states = await Promise.all(
    Object.keys(PAGES).map(async (path) => (await crawler.record(origin + path))?.state),
  );
  expect(states.filter((state) => state === 'duplicate')).toHaveLength(totals.duplicates);
  expect(await crawler.record(`${origin}/`)).toMatchObject({ state: 'fetched' });
  expect(await crawler.record(`${origin}/copy`)).toMatchObject({ state: 'duplicate' });
  const { why } = await crawler.explain(`${origin}/copy`);
  expect(why.join(' ')).toMatch(/100 % of their text is the same|9\d % of their text is the same/);
});

it('exports count what they leave out, and have it when asked', async () => {
  const { crawler, origin } = await visiting(siteOf(PAGES).answer);
  const { totals } = await crawler.crawl(seed(`${origin}/`));
  const [without, all] = [await exported(crawler), await exported(crawler, true)];
  expect(without.duplicates).toBe(totals.duplicates);
  expect(without.urls).not.toContain('/copy');
  expect(all).toMatchObject({ urls: Object.keys(PAGES).toSorted(), duplicates: 0, documents: 5 });
  expect((await crawler.stats()).byStatus.duplicate).toBe(totals.duplicates);
});

it('the feed reports that a duplicate changes, whether it still is one or not', async () => {
  const site = siteOf({ ...PAGES });
  const { crawler, origin } = await visiting(site.answer);
  await crawler.crawl(seed(`${origin}/`));
  site.pages['/copy'] = PAGES['/copy'].replace('month 3', 'year 3');
  await crawler.touch([`${origin}/copy`]);
  await crawler.crawl();
  expect((await changesOf(crawler)).at(-1)).toMatchObject({
    kind: 'modified',
    url: `${origin}/copy`,
    state: 'duplicate',
  });
  site.pages['/copy'] = project('another one');
  await crawler.touch([`${origin}/copy`]);
  await crawler.crawl();
  expect((await changesOf(crawler)).at(-1)).toMatchObject({
    kind: 'modified',
    url: `${origin}/copy`,
    state: 'fetched',
  });
});

it('dedup judges as the crawl does, and by signatures alone where that is asked for', async () => {
  const { crawler, origin } = await visiting(siteOf(PAGES).answer, 'dedup.mode=off');
  await crawler.crawl(seed(`${origin}/`));
  const found: string[] = [];
  const run = (minOverlap: number) =>
    crawler.dedup(
      { prefer: ['oldest'], dryRun: true, minOverlap },
      ({ url }) => void found.push(new URL(url).pathname),
    );
  await run(0.9);
  expect(found).not.toContain('/b');
  expect(found.some((path) => path === '/copy' || path === '/story')).toBe(true);
  found.length = 0;
  await run(0);
  expect(found.some((path) => path === '/a' || path === '/b')).toBe(true);
});
