import { expect, it } from 'vitest';
import { robotsDirectives } from '../../src/page/links/robots-directives.ts';

const words = (metas: readonly string[], header?: string): string => {
  const { noindex, nofollow } = robotsDirectives(metas, header, 'incrawl');
  return [noindex ? 'noindex' : '', nofollow ? 'nofollow' : ''].filter(Boolean).join(' ');
};

it.each([
  [[], ''],
  [['index, follow'], ''],
  [['noindex'], 'noindex'],
  [['nofollow'], 'nofollow'],
  [['none'], 'noindex nofollow'],
  [['NoIndex,NOFOLLOW'], 'noindex nofollow'],
  [['noindex nofollow'], 'noindex nofollow'],
  [['noarchive;\n nofollow'], 'nofollow'],
  [['follow', 'noindex'], 'noindex'],
  [['noindexed', 'max-snippet:none'], ''],
])('robots meta elements %j say: %s', (metas, said) => expect(words(metas)).toBe(said));

it.each([
  ['', ''],
  ['noindex', 'noindex'],
  ['noarchive, NOFOLLOW', 'nofollow'],
  ['  none\t', 'noindex nofollow'],
  ['noarchive\nnoindex', 'noindex'],
  // The name of an agent holds for the rest of its line, or up to the next name.
  ['otherbot: noindex', ''],
  ['otherbot: noindex, nofollow', ''],
  ['otherbot: noindex\nnofollow', 'nofollow'],
  ['incrawl: noindex', 'noindex'],
  ['Incrawl : noindex, nofollow', 'noindex nofollow'],
  [' incrawl:nofollow', 'nofollow'],
  ['otherbot: noindex, incrawl: nofollow', 'nofollow'],
  ['incrawl: nofollow, otherbot: noindex', 'nofollow'],
  ['noindex, otherbot: nofollow', 'noindex'],
  // Directives that have values are no names of agents.
  ['unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex', 'noindex'],
  ['max-snippet: 20, nofollow', 'nofollow'],
  ['max-image-preview: large, noindex', 'noindex'],
  ['max-image-preview: none, max-video-preview: none', ''],
  ['otherbot: max-snippet: 20, noindex', ''],
  ['max-video-preview: 3, noindex', 'noindex'],
  // What is behind a name may have more colons, and lines of its own.
  ['incrawl: x: y, noindex', 'noindex'],
  ['not a name: noindex, nofollow', 'nofollow'],
])('X-Robots-Tag %j says: %s', (header, said) => expect(words([], header)).toBe(said));

it('elements and header count together', () => expect(words(['nofollow'], 'noindex')).toBe('noindex nofollow'));
