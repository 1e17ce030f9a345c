import { expect, it } from 'vitest';
import type { Crawler } from '../../src/crawler/index.ts';
import { type Answer, seed, visiting } from './visiting.ts';

const text = (name: string, count = 120): string =>
  Array.from(
    { length: count / 12 },
    (_, i) => `<p>${Array.from({ length: 12 }, (_, k) => `${name}${(i * 12 + k) * 7919}`).join(' ')}, as they say.</p>`,
  ).join('');

const site =
  (pages: Readonly<Record<string, string>>): Answer =>
  ({ url = '' }, response) => {
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(page ?? 'none');
  };

const STORY = `<link rel=amphtml href=/amp/story><link rel=alternate media=print href=/story?print=1>${text('story')}`;
const PAGES = {
  '/': `<title>home</title>${text('home')}<a href=/story>story</a> <a href=/other>other</a>`,
  '/story': STORY,
  '/other': `<link rel=amphtml href=/amp/other>${text('other')}<a href=/amp/other>for telephones</a>`,
  '/amp/story': `<html amp><link rel=canonical href=/story>${text('story')}`,
  '/amp/other': `<html ⚡><link rel=canonical href=/other?utm_source=amp>${text('other', 108)}`,
  '/story?print=1': `<link rel=canonical href=/story>${text('story')}`,
};

it('a version that only a link element names is not visited; one that is linked repeats its page', async () => {
  const { crawler, origin, asked } = await visiting(site(PAGES));
  await crawler.crawl(seed(`${origin}/`));
  expect(asked.toSorted()).toEqual(['GET /', 'GET /amp/other', 'GET /other', 'GET /story']);
  expect(await crawler.record(`${origin}/amp/other`)).toMatchObject({
    state: 'duplicate',
    target: `${origin}/other`,
    metadata: { variant: 'amp', variantOf: `${origin}/other` },
  });
  const { why } = await crawler.explain(`${origin}/amp/other`);
  expect(why).toContain(`It declares to be the AMP version of ${origin}/other.`);
  expect(why).toContain(`It is a duplicate of ${origin}/other.`);
  const unknown = await crawler.explain(`${origin}/amp/story`);
  expect(unknown.skipped.map(({ reason, detail, from }) => [reason, detail, from])).toEqual([
    ['variant-link', 'amp', `${origin}/story`],
  ]);
});

it('outlinks.followVariants visits them, and they repeat their pages', async () => {
  const { crawler, origin, asked } = await visiting(site(PAGES), 'outlinks.followVariants=true');
  await crawler.crawl(seed(`${origin}/`));
  expect(asked.toSorted()).toEqual(
    Object.keys(PAGES)
      .map((path) => `GET ${path}`)
      .toSorted(),
  );
  const targets = await Promise.all(
    ['/amp/story', '/amp/other', '/story?print=1'].map(async (path) => (await crawler.record(origin + path))?.target),
  );
  expect(targets).toEqual([`${origin}/story`, `${origin}/other`, `${origin}/story`]);
  expect((await crawler.dedup({ prefer: ['shortest'], dryRun: false })).restored).toBe(0);
  expect((await crawler.record(`${origin}/amp/other`))?.state).toBe('duplicate');
});

const ARTICLE = '<meta property="og:type" content="article">';
const paged = (type: string, last: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: last }, (_, i) => [
      i === 0 ? '/long' : `/long?page=${i + 1}`,
      `${type}${text(`part${i}x`)}<a href="/of-${i + 1}">more</a>${i + 1 < last ? `<link rel=next href="/long?page=${i + 2}">` : ''}${i > 0 ? `<link rel=prev href="/long?page=${i}">` : ''}`,
    ]),
  );
const depthOf = async (type: string, path: string): Promise<unknown> => {
  const home = { '/': `${text('home')}<a href=/long>long</a>` };
  const { crawler, origin } = await visiting(site({ ...home, ...paged(type, 9) }));
  await crawler.crawl(seed(`${origin}/`));
  return crawler.record(origin + path);
};

it('the pages of an article are as near to the seeds as the first one, and keep their number', async () => {
  expect(await depthOf(ARTICLE, '/long?page=9')).toMatchObject({ depth: 1, score: 0.5, metadata: { pageNumber: 9 } });
  expect(await depthOf(ARTICLE, '/of-9')).toMatchObject({ depth: 2, score: 0.25 });
});

it('those of a list are a link farther each', async () => {
  expect(await depthOf('', '/long?page=9')).toMatchObject({ depth: 9, metadata: { pageNumber: 9 } });
});

async function exported(crawler: Crawler, format: string): Promise<string> {
  let out = '';
  await crawler.export(
    { format },
    {
      place: null,
      write: async (chunk) => {
        out += String(chunk);
      },
    },
  );
  return out;
}

it('the next page of a page is exported with its number', async () => {
  const home = { '/': `${text('home')}<a href=/long>long</a>` };
  const { crawler, origin } = await visiting(site({ ...home, ...paged(ARTICLE, 2) }));
  await crawler.crawl(seed(`${origin}/`));
  const pages = (await exported(crawler, 'jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(pages.map(({ url, nextPage, pageNumber }) => [url, nextPage, pageNumber]).toSorted()).toEqual([
    [`${origin}/`, null, null],
    [`${origin}/long`, `${origin}/long?page=2`, 1],
    [`${origin}/long?page=2`, null, 2],
  ]);
});

it('a page without content in its HTML has the text of its JSON-LD, and exports say so', async () => {
  const body = text('spoken').replaceAll('</p>', '\n').replaceAll('<p>', '');
  const shell = `<title>App</title><script type="application/ld+json">${JSON.stringify({ '@type': 'Article', headline: 'App', articleBody: body })}</script><div id=root></div><noscript>Please enable JavaScript to run this app.</noscript>`;
  const { crawler, origin } = await visiting(site({ '/': shell }));
  await crawler.crawl(seed(`${origin}/`));
  const [page] = (await exported(crawler, 'jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(page).toMatchObject({ text: body.trim(), textSource: 'json-ld articleBody' });
  const out = await exported(crawler, 'markdown');
  expect(out).toContain('textSource: "json-ld articleBody"');
  expect(out).toContain('spoken7919');
  expect((await crawler.record(`${origin}/`))?.signatureName).toMatch(/\+json-ld$/);
});
