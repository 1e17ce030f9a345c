import type { CrawlProgress } from '../../core/steps/summaries.ts';

const SUMMED = ['urls', 'done', 'pagesPerSecond', 'bytesReceived', 'bytesSaved'] as const;

/** The progress of the partitions that a worker crawls at once, as one. */
export class SpreadProgress {
  readonly #underWay = new Map<number, CrawlProgress>();
  readonly #onProgress: (progress: CrawlProgress) => void;

  constructor(onProgress: (progress: CrawlProgress) => void) {
    this.#onProgress = onProgress;
  }

  show(partition: number, progress: CrawlProgress): void {
    this.#underWay.set(partition, progress);
    const all = [...this.#underWay.values()];
    const sums = SUMMED.map((field) => [field, all.reduce((sum, each) => sum + each[field], 0)]);
    // The lanes serve all partitions, so their counts are not added; the stage is that with the most work.
    const stage = (all.find((each) => each.stage === 'fetch') ?? progress).stage;
    this.#onProgress({ ...progress, ...Object.fromEntries(sums), stage });
  }

  end(partition: number): void {
    this.#underWay.delete(partition);
  }
}
