import { describe, expect, it } from 'vitest';
import { templateOf } from '../../src/core/domain/url/families/noise-families.ts';
import type { FetchedRecord, ParsedRecord } from '../../src/core/ports/segment-store.ts';
import { createTextSketcher } from '../../src/page/near/page-dimensions.ts';
import { visitedPageLines } from '../../src/published/map-reduce/visited-pages.ts';
import { prose } from '../site/trap-pages.ts';

const SITE = 'https://a.org';
const range = (length: number): number[] => Array.from({ length }, (_, at) => at);
const sketch = createTextSketcher();

/** A page with its text and the paths that it links to. */
const page = (path: string, text: string, links: readonly string[]): ParsedRecord => ({
  index: 0,
  url: SITE + path,
  outcome: {
    kind: 'parsed',
    signature: null,
    signatureName: 'none',
    sketch: sketch({ mainText: text, text }) ?? '',
    title: path,
    textChars: text.length,
    stated: null,
    places: [],
    noindex: false,
    metadata: {},
  },
  contentType: 'text/html',
  charset: 'utf-8',
  lang: null,
  canonical: null,
  text,
  outlinks: links.map((link) => ({ url: SITE + link, anchor: link, rel: 'link' as const, nofollow: false })),
});

const redirect = (path: string, target: string): FetchedRecord => ({
  index: 0,
  url: SITE + path,
  host: 'a.org',
  outcome: {
    kind: 'redirect',
    ...{ at: 0, requests: 1, bodyBytes: 0, receivedBytes: 0, ms: 1, status: 302, permanent: false },
    target,
  },
  warc: null,
  observation: null,
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** The templates whose pages brought nothing. */
async function emptyTemplates(parsed: readonly ParsedRecord[], fetched: readonly FetchedRecord[] = []) {
  const found = new Set<string | null>();
  const lines = visitedPageLines({ parsed: () => each(parsed), fetched: () => each(fetched) });
  for await (const line of lines) found.add(templateOf(line.split('\t', 1)[0]!));
  return [...found];
}

const ARTICLES = 40;
const article = (id: number): string => `/text-of/article-${id}`;
const articles = range(ARTICLES).map((id) => page(article(id), prose(article(id), 200), []));
const quote = (id: number): string => `${article(id)} ${prose(article(id), 200).split(' ').slice(0, 40).join(' ')}`;
/** Lists that quote articles: list `at` has those that `has` says. */
const lists = (name: string, count: number, has: (at: number, id: number) => boolean): ParsedRecord[] =>
  range(count).map((at) => {
    const of = range(ARTICLES).filter((id) => has(at, id));
    return page(`/${name}/list-${at}`, of.map(quote).join(' '), of.map(article));
  });
const home = page('/', 'Start', range(ARTICLES).map(article));
const tags = (name: string): ParsedRecord[] => lists(name, 10, (at, id) => id % 10 === at || (id * 3) % 10 === at);
const months = lists('months', 8, (at, id) => id % 8 === at);

describe('pages that brought nothing', () => {
  it('are lists that quote the same known pages again and again', async () => {
    expect(await emptyTemplates([home, ...articles, ...tags('tag')])).toEqual(['a.org/tag/*']);
  });

  it('are no lists that name each page once', async () => {
    expect(await emptyTemplates([home, ...articles, ...months])).toEqual([]);
  });

  it('are no lists that pages are known by', async () => {
    expect(await emptyTemplates([...articles, ...tags('tag')])).toEqual([]);
    expect(await emptyTemplates([...months, ...articles, ...tags('tag')])).toEqual(['a.org/tag/*']);
  });

  it('are one of two kinds of lists that know their pages from each other', async () => {
    expect(await emptyTemplates([...articles, ...tags('tag'), ...tags('author')])).toHaveLength(1);
  });

  it('are no lists with a text of their own', async () => {
    const own = tags('tag').map((each) => ({ ...each, text: `${each.text} ${prose(each.url, 100)}` }));
    expect(await emptyTemplates([home, ...articles, ...own])).toEqual([]);
  });

  it('are pages of one text that link to known pages', async () => {
    const alike = (links: (at: number) => string[]): ParsedRecord[] =>
      range(6).map((at) => page(`/offer/${at}`, prose('offer', 60), links(at)));
    expect(await emptyTemplates([home, ...articles, ...alike(() => [])])).toEqual(['a.org/offer/*']);
    expect(await emptyTemplates([home, ...articles, ...alike((at) => [article(at)])])).toEqual(['a.org/offer/*']);
    expect(await emptyTemplates([home, ...articles, ...alike((at) => [`/new-${at}`])])).toEqual([]);
    // Pages that are found by each other alone.
    expect(await emptyTemplates([home, ...alike((at) => [`/offer/${(at + 1) % 6}`])])).toEqual([]);
    // More links than are looked at.
    const many = range(120).map((at) => `/note-${at}`);
    expect(await emptyTemplates([page('/', 'Start', many), ...alike(() => many)])).toEqual([]);
    expect(await emptyTemplates([page('/', 'Start', many), ...alike(() => many.slice(0, 90))])).toHaveLength(1);
    // Too little text to say that they are alike: pages of pictures.
    expect(await emptyTemplates(range(6).map((at) => page(`/photo/${at}`, 'A photo', [])))).toEqual([]);
  });

  it('are redirects to sites that the crawl does not have', async () => {
    const away = range(6).map((at) => redirect(`/ad/click?id=${at}`, `https://shop-${at}.example/`));
    expect(await emptyTemplates([home], away)).toEqual(['a.org/ad/click?id']);
    const there = range(6).map((at) => ({ ...home, url: `https://shop-${at}.example/` }));
    expect(await emptyTemplates([home, ...there], away)).toEqual([]);
    const within = range(6).map((at) => redirect(`/old/${at}`, `https://www.a.org/new/${at}`));
    expect(await emptyTemplates([home], within)).toEqual([]);
  });
});
