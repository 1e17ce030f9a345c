import { cpuMs } from '../../adapters/system/clock.ts';
import type { JobEngine } from '../../ports/job-engine.ts';
import { countFetched } from '../../steps/counters/outcome-counts.ts';
import type { CrawlProgress } from '../../steps/summaries.ts';
import type { CrawlDeps, Store } from '../deps.ts';
import { prepare } from '../loop/crawl-operations.ts';
import { generateRound } from '../loop/generate-round.ts';
import { isAnyDue, roundPause } from '../loop/round-pause.ts';
import { runFetchAndParse } from '../loop/segment-steps.ts';
import { discoverSitemaps } from '../loop/sitemaps.ts';
import { unappliedSegments } from '../loop/unfinished.ts';
import { updateRound } from '../loop/update-round.ts';
import { roundKeeper } from '../reports/round-log.ts';
import { FIRST_JOB, type RoundJobsDeps, type RoundSteps, roundJobs } from './round-jobs.ts';
import { type WorkOptions, type WorkSummary, workOff } from './work-off.ts';

/** One of the processes that crawl together. */
export interface Worker {
  /**
   * Takes jobs until nothing is due or the signal comes. Rejects with the `CrawlError` that ended the crawl.
   */
  work(options?: WorkOptions): Promise<WorkSummary>;
  close(): Promise<void>;
}

export interface WorkerDeps {
  readonly wiring: Omit<CrawlDeps, 'store'>;
  readonly engine: JobEngine;
  /** Rejects when the crawl db no longer belongs to the state directory. */
  requireCrawlDb(): Promise<void>;
  /** Opens the crawl db for as long as `use` runs: a worker holds it for one job at a time. */
  withStore<Value>(
    access: 'write' | 'look',
    signal: AbortSignal | undefined,
    use: (store: Store) => Promise<Value>,
  ): Promise<Value>;
  close(): Promise<void>;
}

/** A worker of a shared crawl: the loop as jobs (`round-jobs.ts`) on the wiring of this process. */
export function worker({ wiring, engine, requireCrawlDb, withStore, close }: WorkerDeps): Worker {
  const { config } = wiring;
  const { clock } = wiring.runtime;
  const partsUnderWay = new Map<string, CrawlProgress>();
  const jobsDeps = (onProgress: WorkOptions['onProgress']): RoundJobsDeps => ({
    engine,
    now: () => clock.now(),
    cpuMs,
    withSteps: (use, signal) =>
      withStore('write', signal, (store) => use(roundSteps({ ...wiring, store: () => store }, signal))),
    pause(signal) {
      const look = () => withStore('look', signal, ({ db }) => isAnyDue(db, clock.now()));
      return roundPause(wiring, look, signal);
    },
    async fetchAndParse(segment, isPart, signal) {
      const report = (progress: Omit<CrawlProgress, 'round' | 'stage'>): void => {
        partsUnderWay.set(segment, { round: 1, stage: 'fetch', ...progress });
        onProgress?.(sumOfProgress([...partsUnderWay.values()]));
      };
      try {
        return (
          await runFetchAndParse(wiring, segment, { signal, onProgress: report, round: isPart ? 'part' : 'whole' })
        ).fetch.left;
      } finally {
        partsUnderWay.delete(segment);
      }
    },
  });
  return {
    async work({ seeds = [], ...work } = {}) {
      // Rejects with `contact-missing` before a job is taken.
      await withStore(seeds.length > 0 ? 'write' : 'look', work.signal, (store) =>
        prepare({ ...wiring, store: () => store }, seeds),
      );
      const wake = async (isFirst: boolean): Promise<boolean> => {
        if (isFirst) await engine.put(FIRST_JOB);
        return isFirst;
      };
      return workOff({ engine, clock, atOnce: config.cluster.partsAtOnce, requireCrawlDb, wake }, work, (onRound) =>
        roundJobs(jobsDeps(work.onProgress), onRound),
      );
    },
    close,
  };
}

function roundSteps(deps: CrawlDeps, signal: AbortSignal): RoundSteps {
  const { dir, config, runtime } = deps;
  const { db } = deps.store();
  return {
    unfinished: () => unappliedSegments(db),
    async generate() {
      await discoverSitemaps(deps, signal);
      const { segments = [], waiting } = await generateRound(deps, {}, config.cluster.parts);
      const [first] = waiting?.next ?? [];
      const laterMs = first === undefined ? null : Math.max(0, Date.parse(first.notBefore) - runtime.clock.now());
      return { segments, laterMs: laterMs !== null && laterMs <= config.crawl.hostWaitMs ? laterMs : null };
    },
    updatedb: (segment) => updateRound(deps, { segment }),
    async fetched(id, counts) {
      const segment = await deps.segments.open(id, 'read');
      try {
        await countFetched(segment, counts);
        return segment.info;
      } finally {
        await segment.close();
      }
    },
    async keep(round) {
      const kept = roundKeeper(dir, db, runtime.clock, runtime.log);
      kept.keep(round);
      await kept.done();
    },
  };
}

/** The progress of all parts that a worker fetches at once. They share the lanes, whose counts are not added. */
function sumOfProgress(parts: readonly CrawlProgress[]): CrawlProgress {
  const [first] = parts;
  if (first === undefined) throw new RangeError('at least one part was expected');
  const sum = (field: 'urls' | 'done' | 'pagesPerSecond' | 'bytesReceived' | 'bytesSaved'): number =>
    parts.reduce((total, part) => total + part[field], 0);
  return {
    ...first,
    urls: sum('urls'),
    done: sum('done'),
    pagesPerSecond: sum('pagesPerSecond'),
    bytesReceived: sum('bytesReceived'),
    bytesSaved: sum('bytesSaved'),
  };
}
