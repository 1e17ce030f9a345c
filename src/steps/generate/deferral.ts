import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Records rewritten per batch. */
const WINDOW = 500;

/** Moves pages that wait to the time at which they are to be looked at again. */
export class Deferral {
  readonly #db: Pick<CrawlDb, 'getMany' | 'write'>;
  #waiting = new Map<string, number>();

  constructor(db: Pick<CrawlDb, 'getMany' | 'write'>) {
    this.#db = db;
  }

  async add(url: string, until: number): Promise<void> {
    this.#waiting.set(url, until);
    if (this.#waiting.size >= WINDOW) await this.flush();
  }

  async flush(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting = new Map();
    if (waiting.length === 0) return;
    const records = await this.#db.getMany(waiting.map(([url]) => url));
    const puts = waiting.flatMap(([, until], i) => {
      const previous = records[i];
      if (previous === undefined || previous.lastFetchAt === null) return [];
      const nextFetchAt = Math.ceil(until);
      const schedule = { ...previous.schedule, intervalMs: nextFetchAt - previous.lastFetchAt };
      return [{ datum: { ...previous, nextFetchAt, schedule }, previous }];
    });
    await this.#db.write({ puts });
  }
}
