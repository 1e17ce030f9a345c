import type { PageToParse, ParsedPage } from '../../ports/page-parser.ts';

/**
 * Sends pages to a worker and returns their answers in order; rejects when the worker died, ran out of time or was
 * stopped by `signal`.
 */
export type RunBatch<Answer> = (
  pages: readonly PageToParse[],
  options: { readonly handOver: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<Answer[]>;

/** Limits of a batch. Batches exist because sending a small page to a worker costs more than parsing it. */
const MAX_PAGES = 8;
const MAX_BYTES = 512 * 1024;

interface Waiting {
  readonly page: PageToParse;
  readonly resolve: (parsed: ParsedPage) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps each worker busy with one batch at a time: pages that arrive while all workers are busy go together, in order,
 * to the next free one. A failed batch is repeated page by page, so that a page that breaks its worker fails alone.
 */
export class PageBatches {
  private readonly waiting: Waiting[] = [];
  private free: number;
  private readonly run: RunBatch<ParsedPage>;
  /** The answer for a page that failed alone; throws for a fault that is not the page's. */
  private readonly onFailure: (page: PageToParse, error: unknown) => ParsedPage;

  constructor(
    workers: number,
    run: RunBatch<ParsedPage>,
    onFailure: (page: PageToParse, error: unknown) => ParsedPage,
  ) {
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
        // Bodies are copied, not transferred: they are needed again if the batch fails.
        const answers = await this.run(
          batch.map(({ page }) => page),
          { handOver: false },
        );
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as ParsedPage);
        return;
      } catch {
        // Parsing each page alone shows which one failed.
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
