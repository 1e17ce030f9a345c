import type { CrawlError } from '../../../domain/errors.ts';
import { digestUrls } from '../../../domain/url/hash/url-digest.ts';
import type { Log } from '../../../ports/log.ts';
import type { SeenFilter, SeenFilterStats, SharedSeenFilter } from '../../../ports/seen-filter.ts';
import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { keysOfRange, type Rows } from '../rows.ts';
import type { NewUrlWatcher, RowSink } from '../writing/row-watchers.ts';

/** Which filter elsewhere has all URLs of this db, and how many digests it had been given by then. */
export const SHARED_MARK_KEY = `${ROW.seen}r`;

const REBUILD_WINDOW = 20_000;

export interface SharedFilterOptions {
  readonly rows: Rows;
  readonly filter: SharedSeenFilter;
  readonly log: Log;
  readonly exclusive: <Value>(task: () => Promise<Value>) => Promise<Value>;
  readonly urls: () => number;
}

/**
 * Keeps a filter that lives elsewhere in step with the crawl db: it is given the digests of new URLs before their
 * records are written. If that fails, its mark goes with the same batch, the crawl db is asked about everything from
 * then on, and at the next start the filter is filled again, as it is when it has lost something.
 */
export class SharedFilterKeeper implements SeenFilter, NewUrlWatcher {
  readonly #options: SharedFilterOptions;
  #isWhole = false;
  #fault: Error | null = null;

  constructor(options: SharedFilterOptions) {
    this.#options = options;
  }

  async probe(digests: Uint32Array): Promise<Uint8Array> {
    if (!this.#isWhole) await this.#options.exclusive(() => this.#makeWhole());
    if (this.#fault !== null) throw this.#fault;
    return this.#options.filter.probe(digests);
  }

  async add(digests: Uint32Array): Promise<void> {
    await this.#options.filter.add(digests);
  }

  async stage(sink: RowSink, urls: readonly string[]): Promise<void> {
    if (this.#fault === null) {
      try {
        await this.#makeWhole();
        await this.#options.filter.add(digestUrls(urls));
        sink.put(SHARED_MARK_KEY, Buffer.from(JSON.stringify(await this.#options.filter.mark())));
        return;
      } catch (error) {
        this.#fault = error as CrawlError;
        this.#options.log.warn(
          'the filter of seen URLs could not be given new URLs; it is filled again at the next start',
          {
            error: String(error),
          },
        );
      }
    }
    sink.del(SHARED_MARK_KEY);
  }

  async stats(): Promise<SeenFilterStats> {
    if (!this.#isWhole) await this.#options.exclusive(() => this.#makeWhole());
    return this.#options.filter.stats();
  }

  close(): Promise<void> {
    return this.#options.filter.close();
  }

  /** Within the writer's turn. */
  async #makeWhole(): Promise<void> {
    if (this.#isWhole || this.#fault !== null) return;
    const { rows, filter, log, urls } = this.#options;
    const { epoch, adds } = await filter.mark();
    const [bytes] = await rows.getMany([SHARED_MARK_KEY]);
    const kept = bytes === undefined ? null : (JSON.parse(bytes.toString()) as { epoch: string; adds: number });
    if (kept !== null && kept.epoch === epoch && kept.adds <= adds) {
      this.#isWhole = true;
      return;
    }
    if (urls() > 0) log.info('the filter of seen URLs is filled from the crawl db', { urls: urls() });
    await filter.clear();
    for await (const keys of keysOfRange(rows, rowRange(ROW.record), REBUILD_WINDOW)) {
      await filter.add(digestUrls(keys.map(urlOfRow)));
    }
    await rows.put(SHARED_MARK_KEY, Buffer.from(JSON.stringify(await filter.mark())));
    this.#isWhole = true;
  }
}
