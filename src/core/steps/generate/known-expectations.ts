import { expectedOf, type HostExpectation, type PageExpectation } from '../../domain/crawl/hazard/expectation.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import type { Expectations } from '../facts/expected-changes.ts';

/** Entries whose hosts are looked up together. */
const WINDOW = 500;
/** Hosts remembered: a clock has up to 6 KB. */
const MAX_HOSTS = 5_000;

/** What is expected of the hosts of due entries, read from the crawl db as the entries come. */
export class KnownExpectations {
  readonly #db: Pick<CrawlDb, 'hostRows'>;
  readonly #expectations: Expectations;
  readonly #hosts = new Map<string, HostExpectation>();

  constructor(db: Pick<CrawlDb, 'hostRows'>, expectations: Expectations) {
    this.#db = db;
    this.#expectations = expectations;
  }

  /** Yields the entries in windows, after the hosts of a window were read. */
  async *windows(entries: AsyncIterable<DueEntry>): AsyncGenerator<readonly DueEntry[]> {
    let window: DueEntry[] = [];
    for await (const entry of entries) {
      window.push(entry);
      if (window.length < WINDOW) continue;
      await this.read(window.map(({ url }) => hostOf(url)));
      yield window;
      window = [];
    }
    await this.read(window.map(({ url }) => hostOf(url)));
    if (window.length > 0) yield window;
  }

  async read(hosts: readonly string[]): Promise<void> {
    if (this.#hosts.size > MAX_HOSTS) this.#hosts.clear();
    const unknown = [...new Set(hosts)].filter((host) => !this.#hosts.has(host));
    if (unknown.length === 0) return;
    const rows = await this.#db.hostRows(unknown);
    for (const [i, host] of unknown.entries()) this.#hosts.set(host, this.#expectations(rows[i]?.facts));
  }

  /** Of a host that was read. */
  of(host: string): HostExpectation {
    return this.#hosts.get(host) ?? this.#expectations(undefined);
  }

  ofPage(url: string, lastAt: number, now: number): PageExpectation {
    return expectedOf(this.of(hostOf(url)), url, lastAt, now);
  }
}
