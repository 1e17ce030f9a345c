import { isNewUrl } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import type { Finding } from '../../../core/domain/findings.ts';
import { urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { dueKey, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';

/** The record in a row, or the fault found in the row. */
export function storedRecord(rowKey: string, bytes: Buffer): CrawlDatum | Finding {
  const key = rowKey.slice(1);
  let datum: CrawlDatum;
  try {
    const url = urlOfRow(rowKey);
    if (urlKey(url) !== key) return misplaced(rowKey, `its key spells ${url}, whose key is another one`);
    datum = decodeRecord(url, bytes);
  } catch (error) {
    return { kind: 'row-unreadable', subject: rowKey, detail: (error as Error).message };
  }
  const times: readonly (number | null)[] = [datum.discoveredAt, datum.nextFetchAt, datum.lastFetchAt];
  if (times.some((time) => time !== null && !Number.isFinite(time))) {
    return { kind: 'row-unreadable', subject: rowKey, detail: 'one of its times is not a number' };
  }
  return datum;
}

function misplaced(rowKey: string, detail: string): Finding {
  return { kind: 'record-misplaced', subject: rowKey, detail };
}

export function isFinding(stored: CrawlDatum | Finding): stored is Finding {
  return 'kind' in stored;
}

/** Key of the due row of a record that is not leased; `null`: none. */
export function dueRowOf(datum: CrawlDatum): string | null {
  const { nextFetchAt, score, url } = datum;
  return nextFetchAt === null ? null : dueKey({ dueAt: nextFetchAt, isNew: isNewUrl(datum), score }, urlKey(url));
}
