import type { CrawlError } from '../../../core/domain/errors.ts';
import { digestUrls } from '../../../core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { SeenFilter, SeenFilterStats, SharedSeenFilter } from '../../../core/ports/seen-filter.ts';
import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { keysOfRange, type NewUrlWatcher, type RowSink, type Rows } from '../rows.ts';

/** Epoch of the shared filter that has all URLs of this db, and the number of its digests at that time. */
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
 * Keeps a shared filter in step with the crawl db: the filter gets the digests of new URLs before their records are
 * written. If that fails, the same batch removes the mark of the filter. From then on the crawl db is read instead, and
 * the next start fills the filter again, as it does if the filter has lost digests.
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
          'the filter of seen URLs could not take new URLs; it is filled again at the next start',
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

  /** To be called within the writer's turn. */
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
