import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordView } from '../../../src/crawler/index.ts';
import type { ParseCheck } from '../../../src/crawler/views.ts';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const ARTICLE = JSON.stringify({
  '@context': 'https://schema.org',
  '@type': 'NewsArticle',
  headline: 'A port counts its boats',
  author: [
    { '@type': 'Person', name: 'Jane \u202eDoe' },
    { '@type': 'Person', name: 'John Roe' },
  ],
  datePublished: '2025-06-05T14:46:12+02:00',
  dateModified: '2025-06-06',
  image: '/boats.jpg',
  publisher: { '@type': 'Organization', name: 'The Example Post' },
});
const PAGE = `<!doctype html><html lang="en"><head><title>A port counts its boats | The Example Post</title>
<meta name="description" content="Twelve are missing."><meta name="keywords" content="sea, boats">
<script type="application/ld+json">${ARTICLE}</script><script type="application/ld+json">{broken</script></head>
<body><main><h1>A port counts its boats</h1><p>Words enough for the content of a page, which says something.</p></main>
<a href="/plain">plain</a></body></html>`;
const PLAIN =
  '<!doctype html><title>Plain</title><p>No more than a title and a few words of text, of which nothing is known.';

let site: ChangingSite;
const cwd = workDir();

beforeAll(async () => {
  site = await startChangingSite({ '/': PAGE, '/plain': PLAIN });
  await prepare(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--quiet'], { cwd });
});
afterAll(() => site.close());

const STATED = {
  authors: ['Jane Doe', 'John Roe'],
  publishedAt: '2025-06-05T12:46:12.000Z',
  modifiedAt: '2025-06-06T00:00:00.000Z',
};

describe('what a page states about itself', () => {
  it('is in check parse, each with its source', async () => {
    const network = ['--allow', '127.0.0.1', '--delay', '0'];
    const check = await json<ParseCheck>(['check', 'parse', `${site.origin}/`, ...network], { cwd });
    expect(check).toMatchObject({
      ...STATED,
      title: 'A port counts its boats',
      description: 'Twelve are missing.',
      keywords: ['sea', 'boats'],
      siteName: 'The Example Post',
      image: `${site.origin}/boats.jpg`,
      sources: {
        title: 'h1, title, json-ld headline',
        authors: 'json-ld author',
        publishedAt: 'json-ld datePublished',
        description: 'meta description',
        lang: 'html lang',
      },
    });
    const { stdout } = await run(['check', 'parse', `${site.origin}/`, ...network], { cwd });
    expect(stdout).toMatch(/^authors +Jane Doe, John Roe \(json-ld author\)$/m);
    expect(stdout).toMatch(/^title +A port counts its boats \(h1, title, json-ld headline\)$/m);
  });

  it('is asked for in readdb --where, and shown with a record', async () => {
    const where = (expression: string): Promise<RecordView[]> =>
      json<RecordView[]>(['readdb', '--where', expression], { cwd });
    const [found, ...others] = await where('author ~ doe and publishedAt < 2025-06-06 and lang = en');
    expect(others).toEqual([]);
    expect(found).toMatchObject({ ...STATED, url: `${site.origin}/`, lang: 'en' });
    expect(await where('publishedAt = null')).toMatchObject([{ url: `${site.origin}/plain`, authors: [] }]);
    const { stdout } = await run(['readdb', '--url', `${site.origin}/`], { cwd });
    expect(stdout).toMatch(/^author +Jane Doe, John Roe$/m);
    expect(stdout).toMatch(/^published +2025-06-05 12:46 UTC$/m);
    const why = await run(['explain', `${site.origin}/`], { cwd });
    expect(why.stdout).toMatch(/^ {2}published +2025-06-05 12:46 UTC, as the page states$/m);
    const plain = await run(['explain', `${site.origin}/plain`], { cwd });
    expect(plain.stdout).not.toContain('as the page states');
  });

  it('is exported', async () => {
    const lines = (await run(['export'], { cwd })).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as { url: string }).find(({ url }) => url.endsWith('/'))).toMatchObject(
      {
        ...STATED,
        description: 'Twelve are missing.',
        keywords: ['sea', 'boats'],
        siteName: 'The Example Post',
        image: `${site.origin}/boats.jpg`,
      },
    );
    const { stdout: csv } = await run(['export', '--format', 'csv'], { cwd });
    expect(csv).toContain(',authors,publishedAt,modifiedAt,description,keywords,siteName,image,textSource,nextPage,');
    await run(['export', '--format', 'markdown', '-o', 'pages.md'], { cwd });
    expect(readFileSync(join(cwd, 'pages.md'), 'utf8')).toContain(
      'authors: ["Jane Doe","John Roe"]\npublishedAt: "2025-06-05T12:46:12.000Z"\n',
    );
  });
});
