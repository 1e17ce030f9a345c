import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';

/**
 * Recovers from a crash of generate, before anything else is done. A fetch list without a row in the crawl db was never
 * leased, so it is removed. A row whose segment is no longer on disk (the folder was deleted) returns its leased URLs.
 * A finished segment without its `segment.json` is damaged: it is left as it is.
 */
export async function recover(db: CrawlDb, segments: SegmentStore, log: Log): Promise<void> {
  const rows = await db.segments();
  const known = new Set(rows.map((row) => row.id));
  const applied = new Set(rows.filter(({ state }) => state === 'updated').map(({ id }) => id));
  const damaged: string[] = [];
  for (const id of await segments.listIncomplete()) {
    if (applied.has(id)) {
      log.warn('a segment with stored pages has no segment.json; "incrawl state repair" moves it to quarantine', {
        segment: id,
      });
      damaged.push(id);
      continue;
    }
    log.info('removing an unfinished segment', { segment: id });
    await segments.remove(id);
  }
  const onDisk = await segments.list();
  for (const segment of onDisk) {
    if (known.has(segment.id) || segment.state !== 'generated') continue;
    log.info('removing a fetch list whose URLs were never leased', { segment: segment.id });
    await segments.remove(segment.id);
  }
  const present = new Set([...onDisk.map((segment) => segment.id), ...damaged]);
  for (const row of rows) {
    if (present.has(row.id)) continue;
    const urls: string[] = [];
    for await (const lease of db.scanLeases(row.id)) urls.push(lease.url);
    if (row.state !== 'updated') {
      log.warn('a segment is missing from disk; its URLs are due again', { segment: row.id, urls: urls.length });
    }
    await db.write({ release: { segment: row.id, urls }, removeSegments: [row.id] }, { durable: true });
  }
}
