import type { PageToParse, ParsedPage } from '../../ports/page-parser.ts';

/**
 * What hands pages to a worker and brings the answers back, in order; rejects when the worker was lost or its time was
 * over.
 */
export type RunBatch = (
  pages: readonly PageToParse[],
  options: { readonly handOver: boolean },
) => Promise<ParsedPage[]>;

/**
 * Pages of a batch, and bytes of their bodies: handing over a page costs more than a small page is worth of parsing.
 */
const MAX_PAGES = 8;
const MAX_BYTES = 512 * 1024;

interface Waiting {
  readonly page: PageToParse;
  readonly resolve: (parsed: ParsedPage) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps every worker busy with one batch at a time: whatever has come while all were busy goes to the next free one
 * together, in the order it came. A batch that fails is repeated page by page, so a page that breaks its worker costs
 * no other page.
 */
export class PageBatches {
  private readonly waiting: Waiting[] = [];
  private free: number;
  private readonly run: RunBatch;
  /** The answer for a page that failed alone, or a fault that is no page's. */
  private readonly onFailure: (page: PageToParse, error: unknown) => ParsedPage;

  constructor(workers: number, run: RunBatch, onFailure: (page: PageToParse, error: unknown) => ParsedPage) {
    this.free = workers;
    this.run = run;
    this.onFailure = onFailure;
  }

  parse(page: PageToParse): Promise<ParsedPage> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ page, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.free > 0 && this.waiting.length > 0) {
      this.free--;
      void this.work(this.waiting.splice(0, this.nextCount())).finally(() => {
        this.free++;
        this.dispatch();
      });
    }
  }

  private nextCount(): number {
    let count = 0;
    let bytes = 0;
    for (const { page } of this.waiting) {
      bytes += page.body.byteLength;
      if (count > 0 && (count === MAX_PAGES || bytes > MAX_BYTES)) break;
      count++;
    }
    return count;
  }

  private async work(batch: readonly Waiting[]): Promise<void> {
    if (batch.length > 1) {
      try {
        // Bodies are copied, not handed over: they are needed again should the batch fail.
        const answers = await this.run(
          batch.map(({ page }) => page),
          { handOver: false },
        );
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as ParsedPage);
        return;
      } catch {
        // Which page it was shows when each is tried alone.
      }
    }
    for (const { page, resolve, reject } of batch) {
      try {
        const [answer] = await this.run([page], { handOver: true });
        resolve(answer as ParsedPage);
      } catch (error) {
        try {
          resolve(this.onFailure(page, error));
        } catch (fault) {
          reject(fault);
        }
      }
    }
  }
}
