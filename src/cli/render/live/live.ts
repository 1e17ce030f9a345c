// cli/render/live/: progress on the terminal while a crawl runs.
import type { CrawlProgress } from '../../../crawler.ts';
import { isWithinLast } from '../../../domain/time.ts';
import { type Live, NO_LIVE } from './no-live.ts';
import { progressFields, progressLines } from './progress.ts';

export interface LiveOptions {
  /** Terminal to draw on; `null` where there is none. */
  readonly terminal: NodeJS.WriteStream | null;
  readonly record: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly now?: () => number;
}

const REDRAW_MS = 150;
const RECORD_MS = 5_000;

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
  let last = 0;
  let shown: CrawlProgress | null = null;
  const redraw = (progress: CrawlProgress): void =>
    draw(progressLines(progress, (terminal.columns || 80) - 1).join('\n'));
  return {
    progress(progress) {
      shown = progress;
      if (isWithinLast(REDRAW_MS, last, now())) return;
      last = now();
      redraw(progress);
    },
    around(print) {
      draw.clear();
      print();
      if (shown !== null) redraw(shown);
    },
    stop() {
      draw.clear();
      draw.done();
      shown = null;
    },
  };
}
