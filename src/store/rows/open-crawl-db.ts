import type { BloomPlan } from '../../core/domain/url/bloom/bloom-leaf.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SharedSeenFilter } from '../../core/ports/seen-filter.ts';
import { checkFormat, migrate, refuseHalfRepaired, undoHalfImport } from './format.ts';
import { type NearPlan, openFingerprintTables } from './near/fingerprint-tables.ts';
import { type Rows, rowFault } from './rows.ts';
import { RowsCrawlDb } from './rows-crawl-db.ts';
import { openSeenFilter } from './seen/seen-filter.ts';
import { BatchWriter } from './writing/batch-writer.ts';

/** The optional parts of a crawl db. */
export interface CrawlDbFeatures {
  readonly log: Log;
  /**
   * Keeps a filter of seen URLs, available as `seenFilter` of the db: in the db's own rows, or a shared one elsewhere;
   * default: none.
   */
  readonly seenFilter?: BloomPlan | SharedSeenFilter;
  /** Keeps the tables of signatures, available as `fingerprints` of the db; default: none. */
  readonly near?: NearPlan;
}

export interface CrawlDbOnRowsOptions extends CrawlDbFeatures {
  /** Name of the db in messages. */
  readonly name: string;
  /** For reading, while another process may write. */
  readonly isReadOnly?: boolean;
  readonly onOpen?: () => Promise<void>;
  /** Called while the rows can still be written. */
  readonly onClose?: () => Promise<void>;
}

/**
 * Opens a crawl db on rows that no other process writes while it is open; closing the db closes the rows. Rows that
 * cannot be opened as a crawl db are closed at once. Rejects with `CrawlError`: `db-version`, `db-corrupt`, or an error
 * of the storage.
 */
export async function openCrawlDbOn(rows: Rows, options: CrawlDbOnRowsOptions): Promise<RowsCrawlDb> {
  const { name, log, isReadOnly = false, onOpen = async () => {}, onClose = async () => {} } = options;
  try {
    await refuseHalfRepaired(rows, name);
    await migrate(rows, await checkFormat(rows, name), log);
    if (!isReadOnly) await undoHalfImport(rows, name, log);
    const writer = await BatchWriter.open(rows);
    await onOpen();
    log.debug('crawl db opened', { name, ...writer.counters() });
    const seen = await openSeenFilter(rows, writer, options.seenFilter ?? null, log);
    writer.newUrls = seen.watcher;
    const { tables, watcher } = await openFingerprintTables(rows, options.near ?? null, log, isReadOnly);
    writer.records = watcher;
    return new RowsCrawlDb({
      rows,
      writer,
      beforeUnlock: onClose,
      isReadOnly,
      seenFilter: seen.filter,
      fingerprints: tables,
    });
  } catch (error) {
    await rows.close();
    throw rowFault(error);
  }
}
