import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import type { JudgedRecords } from '../../core/steps/update/dedup.ts';
import { linesOfFile } from '../../store/files/sorting/external-sort.ts';
import { LineFile } from '../near-grouping/files.ts';

/**
 * Records of a crawl that others write meanwhile: later passes read the records of the first pass from a file. Visits
 * are left out, as no judgement depends on them.
 * @param path of a new file
 */
export function keptRecords(records: JudgedRecords, path: string): JudgedRecords {
  let isKept = false;
  return {
    count: records.count,
    async *read(meter) {
      if (isKept) {
        for await (const line of linesOfFile(path)) {
          meter.add('records', 1);
          yield JSON.parse(line) as CrawlDatum;
        }
        return;
      }
      const file = new LineFile(path);
      try {
        for await (const datum of records.read(meter)) {
          const own = { ...datum, visits: [] };
          if (datum.signature !== null || datum.state === 'duplicate') await file.add(JSON.stringify(own));
          yield datum;
        }
        await file.end();
        isKept = true;
      } catch (error) {
        file.destroy();
        throw error;
      }
    },
  };
}
