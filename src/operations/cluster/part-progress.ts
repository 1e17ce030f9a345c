import type { CrawlProgress } from '../../steps/summaries.ts';

/**
 * Parts that a worker fetches at once, as one. Lanes are the same for all of them, so their counts are those of any.
 */
export function sumOfProgress(parts: readonly CrawlProgress[]): CrawlProgress {
  const [first] = parts;
  if (first === undefined) throw new RangeError('at least one part was expected');
  const sum = (field: 'urls' | 'done' | 'pagesPerSecond' | 'bytesReceived' | 'bytesSaved'): number =>
    parts.reduce((total, part) => total + part[field], 0);
  return {
    ...first,
    urls: sum('urls'),
    done: sum('done'),
    pagesPerSecond: sum('pagesPerSecond'),
    bytesReceived: sum('bytesReceived'),
    bytesSaved: sum('bytesSaved'),
  };
}
