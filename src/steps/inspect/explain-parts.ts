import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';

/** The parts of the page that change. */
export function partSentences({ blocks, visits }: CrawlDatum): string[] {
  if (blocks === null) return [];
  const { changed, volatile } = blocks;
  const sentences: string[] = [];
  if (changed.length > 0) sentences.push(`The last change was in these parts: ${changed.join(', ')}.`);
  else if (visits.at(-1)?.outcome === 'modified') {
    sentences.push('The last change was in no text that was compared: only in links, markup or hidden parts.');
  }
  if (volatile.length > 0) {
    sentences.push(`These parts differ at most visits, so they do not count as a change: ${volatile.join(', ')}.`);
    if (volatile.some((name) => /:\d+$/.test(name))) {
      sentences.push(
        'The number of a part is that among its like siblings: those that stayed tell it from the others.',
      );
    }
    const last = visits.at(-1);
    if (last?.outcome === 'modified' && last.distance === 0) {
      sentences.push('Nothing else that counts differed at the last visit with another body, so its distance is 0.');
    }
  }
  return sentences;
}
