// published/dedup/: near duplicates of the whole crawl, grouped in one pass.

import { CrawlError } from '../../core/domain/errors.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';

/** Lines from one file of a batch, with its name in messages. */
export interface BatchLines {
  readonly name: string;
  readonly lines: AsyncIterable<string>;
}

/**
 * The URLs of all pairs found by a batch: lines that begin with two URLs. Rejects with `usage-invalid`, naming file and
 * line.
 */
export async function* urlsOfPairs(
  files: readonly BatchLines[],
  onPair: () => void,
): AsyncGenerator<string, void, undefined> {
  for (const { name, lines } of files) {
    let number = 0;
    for await (const line of lines) {
      number++;
      if (line === '') continue;
      const [url = '', other = ''] = line.split('\t');
      if (!isCanonical(url) || !isCanonical(other)) {
        throw new CrawlError(
          'usage-invalid',
          `${name}, line ${number}: two URLs with a tab between them were expected, as "incrawl mr reduce dedup" ` +
            'writes them; nothing was changed',
        );
      }
      onPair();
      yield url;
      yield other;
    }
  }
}

function isCanonical(url: string): boolean {
  const canonical = canonicalUrl(url);
  return 'url' in canonical && canonical.url === url;
}
