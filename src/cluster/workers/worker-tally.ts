import type { CrawlProgress } from '../../core/steps/summaries.ts';
import type { RoundUnderWay, WorkerReport } from '../ports/workers.ts';

/** Period over which the rate of visits is measured, ms. */
const WINDOW_MS = 10_000;
/** Least time between two samples, ms. */
const SAMPLE_MS = 500;

interface UnderWay extends RoundUnderWay {
  readonly segment: string | null;
  readonly bytesReceived: number;
}

/** Counts what a worker does in its partitions, for its reports. */
export class WorkerTally {
  readonly #who: Pick<WorkerReport, 'host' | 'pid'>;
  /** Ms of a clock that is never set. */
  readonly #elapsed: () => number;
  readonly #underWay = new Map<number, UnderWay>();
  readonly #counts = { visits: 0, bytesReceived: 0, rounds: 0 };
  #lanes = { inFlight: 0, waiting: 0 };
  /** Oldest first. */
  #samples: { readonly at: number; readonly visits: number }[] = [];

  constructor(who: Pick<WorkerReport, 'host' | 'pid'>, elapsed: () => number) {
    this.#who = who;
    this.#elapsed = elapsed;
    this.#sample();
  }

  progress(partition: number, progress: CrawlProgress): void {
    const { stage, segment, urls, done, bytesReceived, inFlight, waiting } = progress;
    const before = this.#underWay.get(partition);
    this.#counts.visits += grownBy(before, progress, 'done');
    this.#counts.bytesReceived += grownBy(before, progress, 'bytesReceived');
    this.#underWay.set(partition, { partition, stage, urls, done, segment, bytesReceived });
    this.#lanes = { inFlight, waiting };
    this.#sample();
  }

  /** A round has ended. */
  round(): void {
    this.#counts.rounds++;
  }

  /** The turn of a partition has ended. */
  end(partition: number): void {
    this.#underWay.delete(partition);
  }

  report(): WorkerReport {
    const now = this.#elapsed();
    const first = this.#samples.findLast(({ at }) => now - at >= WINDOW_MS) ?? this.#samples[0];
    const seconds = first === undefined ? 0 : (now - first.at) / 1_000;
    const rate = first === undefined || seconds <= 0 ? 0 : (this.#counts.visits - first.visits) / seconds;
    const isIdle = this.#underWay.size === 0;
    return {
      ...this.#who,
      ...this.#counts,
      visitsPerSecond: Math.round(10 * rate) / 10,
      ...(isIdle ? { inFlight: 0, waiting: 0 } : this.#lanes),
      underWay: [...this.#underWay.values()]
        .map(({ partition, stage, urls, done }) => ({ partition, stage, urls, done }))
        .sort((a, b) => a.partition - b.partition),
    };
  }

  #sample(): void {
    const at = this.#elapsed();
    const last = this.#samples.at(-1);
    if (last !== undefined && at - last.at < SAMPLE_MS) return;
    this.#samples.push({ at, visits: this.#counts.visits });
    // One sample older than the window is kept: the rate is measured from there.
    const old = this.#samples.findLastIndex((each) => at - each.at >= WINDOW_MS);
    if (old > 0) this.#samples = this.#samples.slice(old);
  }
}

/** A list that grows counts from its last value, another list from its beginning. */
function grownBy(before: UnderWay | undefined, now: CrawlProgress, field: 'done' | 'bytesReceived'): number {
  const isSame = before !== undefined && before.segment === now.segment && now[field] >= before[field];
  return isSame ? now[field] - before[field] : now[field];
}
