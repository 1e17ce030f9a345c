import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { comparedPage, type DedupOptions, READING_SIGNATURES } from '../../core/steps/update/dedup.ts';
import { workMeter } from '../../core/steps/work-meter.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { signedLine } from './signed-line.ts';

export interface SignatureLines {
  /** Of all pages that `dedup` compares, in key order. */
  readonly lines: AsyncIterable<string>;
  /** Of the pages of the new batch. */
  readonly query: AsyncIterable<string>;
  /** Pages that were left out for too little text, when `lines` has been read. */
  readonly short: number;
}

/** The pages that `dedup` would compare with these options, as lines for a cluster. */
export function signatureLines(
  db: CrawlDb,
  options: Pick<DedupOptions, 'scope' | 'minChars' | 'incoming'>,
  onWork: OnWork,
): SignatureLines {
  let short = 0;
  async function* linesOf(isWanted: (url: string) => boolean, onShort: () => void): AsyncGenerator<string> {
    const { urls } = await db.counters();
    for await (const datum of db.scan({ meter: workMeter(onWork, READING_SIGNATURES, urls) })) {
      if (!isWanted(datum.url)) continue;
      const page = comparedPage(datum, { domainOf }, options);
      if (page === 'short') onShort();
      else if (page !== null) yield signedLine(datum.url, page.scope, page);
    }
  }
  return {
    lines: linesOf(
      () => true,
      () => short++,
    ),
    query: linesOf(
      (url) => options.incoming?.has(url) === true,
      () => {},
    ),
    get short() {
      return short;
    },
  };
}
