// render/live/: progress on the terminal while a crawl runs.

import { totalsOf } from '../../cluster/workers/work-off.ts';
import { isWithinLast } from '../../core/domain/time.ts';
import type { CrawlProgress, RoundSummary } from '../../crawler/index.ts';
import { count } from '../quantities.ts';
import { type Live, NO_LIVE, type WorkShown } from './no-live.ts';
import { progressFields, progressLines, workLine } from './progress.ts';
import { roundHeading, sumLines } from './round-table.ts';

/** The work of a worker since the last line of its table: rounds of many partitions end at any time. */
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

  /** The line of a minute, with the heading before the first one; none if nothing was done. */
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

export interface LiveOptions {
  /** Terminal to draw on; `null` where there is none. */
  readonly terminal: NodeJS.WriteStream | null;
  readonly record: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly now?: () => number;
}

const REDRAW_MS = 150;
const RECORD_MS = 5_000;
/** Work outside a crawl that has reported nothing for this long is over, ms. */
const STALE_MS = 1_000;

export async function createLive(options: LiveOptions): Promise<Live> {
  return options.terminal === null ? recordingLive(options) : drawingLive(options.terminal, options.now ?? Date.now);
}

function recordingLive({ record, now = Date.now }: LiveOptions): Live {
  let last = now();
  return {
    ...NO_LIVE,
    progress(progress) {
      if (isWithinLast(RECORD_MS, last, now())) return;
      last = now();
      record('progress', progressFields(progress));
    },
  };
}

async function drawingLive(terminal: NodeJS.WriteStream, now: () => number): Promise<Live> {
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(terminal);
  let drawnAt = 0;
  let crawl: CrawlProgress | null = null;
  let work: { readonly shown: WorkShown; readonly at: number } | null = null;
  const redraw = (): void => {
    const width = (terminal.columns || 80) - 1;
    const lines = crawl === null ? [] : progressLines(crawl, width);
    if (work !== null) lines.push(workLine(work.shown, width));
    if (lines.length > 0) draw(lines.join('\n'));
  };
  const redrawInTime = (): void => {
    if (isWithinLast(REDRAW_MS, drawnAt, now())) return;
    drawnAt = now();
    redraw();
  };
  return {
    progress(progress) {
      crawl = progress;
      if (work !== null && !isWithinLast(STALE_MS, work.at, now())) work = null;
      redrawInTime();
    },
    work(shown) {
      if (shown !== null) {
        work = { shown, at: now() };
        redrawInTime();
      } else if (work !== null) {
        work = null;
        draw.clear();
      }
    },
    around(print) {
      draw.clear();
      print();
      redraw();
    },
    stop() {
      draw.clear();
      draw.done();
      crawl = null;
      work = null;
    },
  };
}
