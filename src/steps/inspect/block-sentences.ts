import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';

/** Which parts of the page change. */
export function blockSentences({ blocks, visits }: CrawlDatum): string[] {
  if (blocks === null) return [];
  const { changed, volatile } = blocks;
  const sentences: string[] = [];
  if (changed.length > 0) sentences.push(`At the last change these parts differed: ${changed.join(', ')}.`);
  else if (visits.at(-1)?.outcome === 'modified') {
    sentences.push('At the last change no block of text differed: dates, counters, links or what is not shown.');
  }
  if (volatile.length > 0) {
    sentences.push(`These parts differ at most visits and count for no change: ${volatile.join(', ')}.`);
  }
  return sentences;
}
