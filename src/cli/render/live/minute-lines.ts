import type { CrawlProgress, RoundSummary } from '../../../crawler.ts';
import { totalsOf } from '../../../operations/cluster/work-off.ts';
import { count } from '../quantities.ts';
import { roundHeading, sumLines } from './round-table.ts';

/** What a worker has done since the last line of its table: rounds of many partitions end at any time. */
export class MinuteLines {
  readonly #width: number;
  #rounds: RoundSummary[] = [];
  #progress: CrawlProgress | null = null;
  #hasHeading = false;

  /** @param width columns of the terminal */
  constructor(width: number) {
    this.#width = width;
  }

  round(round: RoundSummary): void {
    this.#rounds.push(round);
  }

  progress(progress: CrawlProgress): void {
    this.#progress = progress;
  }

  /** The line of a minute, with the heading before the first one; none where nothing was done. */
  take(now: number, bold: (text: string) => string): string[] {
    const time = new Date(now).toISOString().slice(11, 16);
    const [rounds, progress] = [this.#rounds, this.#progress];
    this.#rounds = [];
    this.#progress = null;
    if (rounds.length > 0) return [...this.#heading().map(bold), ...sumLines(time, totalsOf(rounds), this.#width)];
    if (progress === null) return [];
    const { done, urls, pagesPerSecond } = progress;
    return [`${time} ${count(done)} of ${count(urls)} URLs of rounds under way, ${count(pagesPerSecond)} pages/s`];
  }

  #heading(): string[] {
    const heading = this.#hasHeading ? null : roundHeading(this.#width, 'UTC');
    this.#hasHeading = true;
    return heading === null ? [] : [heading];
  }
}
