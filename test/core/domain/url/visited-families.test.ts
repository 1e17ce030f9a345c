import { describe, expect, it } from 'vitest';
import { isEmptyTemplate, templateOf } from '../../../../src/core/domain/url/families/noise-families.ts';
import {
  FamilyMatcher,
  familiesToKeep,
  type StoredFamily,
} from '../../../../src/core/domain/url/families/stored-families.ts';

describe('the template of a URL', () => {
  it.each([
    ['https://a.org/tag/railway', 'a.org/tag/*'],
    ['https://a.org/tag/railway/', 'a.org/tag/*'],
    ['https://a.org/tag/c3po-2024', 'a.org/tag/*'],
    ['https://a.org/news/2024/05/title', 'a.org/news/#/#/*'],
    ['https://a.org/ad/click?campaign=7&slot=1', 'a.org/ad/click?campaign&slot'],
    ['https://a.org/?s=words', 'a.org/?s'],
    ['https://a.org/p-12.html', 'a.org/p-#.html'],
    ['https://b.a.org:8080/go/1', 'b.a.org:8080/go/*'],
    ['https://a.org/about', null],
    ['https://a.org/', null],
  ])('%s: %s', (url, template) => {
    expect(templateOf(url)).toBe(template);
  });
});

it.each([
  [4, 4, false],
  [5, 5, true],
  [5, 4, false],
  [10, 9, true],
  [20, 17, false],
])('%i visits, of which %i brought nothing: %s', (visits, empty, isEmpty) => {
  expect(isEmptyTemplate({ visits, empty })).toBe(isEmpty);
});

describe('a family with a template', () => {
  const tags: StoredFamily = {
    ...{ leader: '/tag/air', size: 9, isNoise: true, similarityToNoise: 1 },
    visited: { template: 'a.org/tag/*', visits: 9 },
  };

  it('is kept, and takes in the URLs of its template alone, however like they are', () => {
    const rival: StoredFamily = { leader: '/tax/air', size: 9, isNoise: false, similarityToNoise: 0 };
    expect(familiesToKeep([rival, tags])).toEqual([tags]);
    const matcher = new FamilyMatcher([tags]);
    expect(matcher.match('https://a.org/tag/a-long-name-of-another')).toEqual({ family: tags, similarity: null });
    for (const other of ['https://b.a.org/tag/air', 'https://a.org/tax/air', 'https://a.org/tag/air?page=2']) {
      expect(matcher.match(other), other).toBeNull();
    }
  });
});
