import { isNewUrl } from '../../../core/domain/crawl/revisit/next-visit.ts';
import { dueKey, ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import { decodeLease, encodeDue, encodeLease } from '../codecs/row-codecs.ts';
import { type Rows, readRange } from '../rows.ts';

/**
 * Rebuilds the due index from the records: format 1 had one order for all URLs, and older ones shorter rows. Leased
 * URLs stay out of it; the due rows within their leases are renewed.
 */
export async function rebuildDueIndex(rows: Rows): Promise<void> {
  for (const kind of [ROW.due, ROW.dueNew]) {
    const { from, to } = rowRange(kind);
    await rows.clear({ gte: from, lt: to });
  }
  const leased = new Set<string>();
  for await (const batch of readRange(rows, rowRange(ROW.lease))) for (const [key] of batch) leased.add(key.slice(1));
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const writes: { type: 'put'; key: string; value: Buffer }[] = [];
    for (const [recordKey, bytes] of batch) {
      const key = recordKey.slice(1);
      const datum = decodeRecord(urlOfRow(recordKey), bytes);
      const due = encodeDue(datum);
      if (leased.has(key)) {
        const [stored] = await rows.getMany([ROW.lease + key]);
        if (stored === undefined) continue;
        writes.push({
          type: 'put',
          key: ROW.lease + key,
          value: encodeLease({ ...decodeLease(datum.url, stored), due }),
        });
      } else if (datum.nextFetchAt !== null) {
        const place = { dueAt: datum.nextFetchAt, isNew: isNewUrl(datum), score: datum.score };
        writes.push({ type: 'put', key: dueKey(place, key), value: due });
      }
    }
    await rows.batch(writes);
  }
}
