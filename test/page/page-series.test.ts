import { describe, expect, it } from 'vitest';
import { pageSeries } from '../../src/page/links/page-series.ts';

const at = (path: string): string => `https://a.org${path}`;
/** `{ 2: '/story/2' }`: links of a pager by their texts. */
const pager = (links: Readonly<Record<string, string>>) =>
  Object.entries(links).map(([anchor, path]) => ({ anchor, url: at(path) }));

describe('pagers', () => {
  it.each<[string, Record<string, string>, string | null, number]>([
    ['/story', { 2: '/story/2', 3: '/story/3' }, '/story/2', 1],
    ['/story/2', { 1: '/story', 3: '/story/3' }, '/story/3', 2],
    ['/story/3', { 1: '/story/1', 2: '/story/2' }, null, 3],
    ['/story/', { 2: '/story/page/2/', 3: '/story/page/3/' }, '/story/page/2/', 1],
    ['/story.html', { 2: '/story-2.html' }, '/story-2.html', 1],
    ['/story_2.html', { 1: '/story.html', 2: '/story_2.html', 3: '/story_3.html' }, '/story_3.html', 2],
    ['/list', { 1: '/list?page=1', 2: '/list?page=2', 9: '/list?page=9' }, '/list?page=2', 1],
    ['/list?sort=a', { 2: '/list?page=2&sort=a', 3: '/list?page=3&sort=a' }, '/list?page=2&sort=a', 1],
    ['/list', { 2: '/list?page=1', 3: '/list?page=2' }, '/list?page=1', 1],
    ['/list?page=1', { 1: '/list?page=0', 3: '/list?page=2' }, '/list?page=2', 2],
    ['/topic?t=7', { 2: '/topic?t=7&start=25', 3: '/topic?t=7&start=50' }, '/topic?t=7&start=25', 1],
    [
      '/topic?t=7&start=50',
      { 1: '/topic?t=7', 2: '/topic?t=7&start=25', 4: '/topic?t=7&start=75' },
      '/topic?t=7&start=75',
      3,
    ],
  ])('%s', (path, links, next, number) => {
    expect(pageSeries({ url: at(path), next: null, previous: null, links: pager(links) })).toEqual({
      next: next === null ? null : at(next),
      number,
      source: 'pager',
    });
  });

  it.each<[string, string, Record<string, string>]>([
    ['a calendar', '/2024/05/', { 1: '/2024/05/1', 2: '/2024/05/2', 12: '/2024/05/12' }],
    ['a calendar with zeros', '/cal', { 1: '/cal?d=2024-05-01', 2: '/cal?d=2024-05-02' }],
    ['a calendar beside a page', '/news', { 1: '/news/2024/1', 2: '/news/2024/2' }],
    ['counts of comments', '/news', { 12: '/story-871#comments', 3: '/other-872' }],
    ['the pager of another list', '/story', { 2: '/list?page=2', 3: '/list?page=3' }],
    ['seasons with a first one elsewhere', '/show', { 1: '/show/1', 2: '/show/2', 3: '/show/3' }],
    ['versions', '/docs/18/x.html', { 17: '/docs/17/x.html', 16: '/docs/16/x.html' }],
    ['other sites', '/story', { 2: '//b.org/story/2', 3: '//b.org/story/3' }],
  ])('no series: %s', (_title, path, links) => {
    expect(pageSeries({ url: at(path), next: null, previous: null, links: pager(links) })).toBeNull();
  });
});

describe('rel=next and rel=prev', () => {
  const related = (path: string, next: string | null, previous: string | null = null) =>
    pageSeries({
      url: at(path),
      next: next === null ? null : new URL(next, at('/')).href,
      previous: previous === null ? null : at(previous),
      links: [],
    });

  it.each<[string, string, number | null]>([
    ['/story', '/story/2', 1],
    ['/story/2', '/story/3', 2],
    ['/threads/name.123/', '/threads/name.123/page-2', 1],
    ['/news', '/news?page=1', 1],
    ['/news?page=4', '/news?page=5', 4],
    ['/topic?start=25', '/topic?start=50', 2],
    ['/list', '/list?after=x7k', null],
  ])('%s, %s', (path, next, number) => {
    expect(related(path, next)).toEqual({ next: at(next), number, source: 'link rel=next' });
  });

  it.each([
    ['the next chapter', '/guide/install', '/guide/use'],
    ['the next post', '/posts/1234', '/posts/1235'],
    ['another site', '/story', 'https://b.org/story/2'],
    ['itself', '/story', '/story'],
  ])('%s is no next page', (_title, path, next) => {
    expect(related(path, next)).toBeNull();
  });

  it('the last page has a number by the one before', () => {
    expect(related('/story/9', null, '/story/8')).toEqual({ next: null, number: 9, source: 'link rel=prev' });
    expect(related('/story/2', null, '/story')).toEqual({ next: null, number: 2, source: 'link rel=prev' });
    expect(related('/guide/use', null, '/guide/install')).toBeNull();
  });
});
