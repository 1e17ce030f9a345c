import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lru } from '../../src/core/domain/lru.ts';
import { HotUrls, WeightedUrls } from '../../src/core/domain/url/cache/weighted-urls.ts';
import { SkipNotes } from '../../src/core/steps/counters/outcome-counts.ts';
import { memoized } from '../../src/page/memoized.ts';
import { ownText } from '../../src/page/text/cut-text.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const PAGE_CHARS = 1024 * 1024;
const PAGES = 64;

/** A part of a page of a megabyte, as a parser cuts it out. */
const cutFrom = (page: number): string =>
  `${String(page).padStart(10, '0')} http://host-${page}.example.org/ ${'x'.repeat(PAGE_CHARS)}`.slice(11, 45);

/** MB that are kept alive by what `keep` does with a part of each page. */
function kept(keep: (text: string) => unknown): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let page = 0; page < PAGES; page++) keep(cutFrom(page));
  collect();
  return (process.memoryUsage().heapUsed - before) / 1024 ** 2;
}

describe('a text of its own', () => {
  it('is the same text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => ownText(text) === text));
  });

  it('is needed: a substring keeps the whole string alive', () => {
    const parts: string[] = [];
    expect(kept((text) => parts.push(text))).toBeGreaterThan(PAGES / 2);
    expect(parts).toHaveLength(PAGES);
  });

  const hot = new HotUrls(1_000);
  const weighted = new WeightedUrls(1_000);
  const answer = memoized((text) => text.length, 1_000);
  const lru = new Lru<number>({ entries: 1_000, weight: 1_000 });
  const hosts = new Lru<null>({ entries: 1_000 });
  const notes = new SkipNotes(1_000);
  const note = (text: string) =>
    notes.note({ url: text, reason: 'robots-denied', by: null, detail: `${text} `.slice(1), from: text.slice(1) });
  it.each<[string, (text: string) => unknown, () => number]>([
    ['URLs met lately', (text) => hot.add(text), () => hot.size],
    ['weighted URLs', (text) => weighted.add(text), () => weighted.size],
    ['answers by text', answer, () => PAGES],
    ['robots.txt by origin', (text) => lru.set(text, 1, 1), () => lru.size],
    ['rows of hosts', (text) => hosts.set(text, null), () => PAGES],
    ['notes of what was passed over', note, () => notes.listed.length],
  ])('%s keep their keys alone', (_name, keep, size) => {
    expect(kept(keep)).toBeLessThan(PAGES / 8);
    expect(size()).toBe(PAGES);
  });
});
