/** A piece of a shared crawl's work; whoever takes it may die, and another one does it again. */
export interface Job {
  /** Letters, digits, `_` and `-`. Names the work: the same id is the same work. */
  readonly id: string;
  /** `generate` begins a round, `fetch` fetches and parses one part of it, `update` applies all parts. */
  readonly kind: 'generate' | 'fetch' | 'update';
  readonly segments: readonly string[];
}

/** What became of a job: done, or given back, to be taken again by anybody so much later. */
export type JobEnd = 'done' | { readonly laterMs: number };

/**
 * Jobs that several processes take from each other's hands; none of them is the master. Calls wait while the server is
 * away.
 */
export interface JobEngine {
  /**
   * Puts a job that may be taken once all of `after` are done, and those jobs with it. Work that waits or is being done
   * is not put twice; work that has ended is put again, but jobs of `after` that were done stay done.
   */
  put(job: Job, after?: readonly Job[]): Promise<void>;
  /**
   * Takes jobs, so many at a time, until the signal comes; resolves when those taken have ended. A job that rejects is
   * tried again a few times, then it has failed, and the job behind it with it. A job whose process gives no sign of
   * life is taken by another one; its signal is aborted where it goes on all the same, and when the signal comes.
   */
  work(
    perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
    options: { readonly atOnce: number; readonly signal: AbortSignal },
  ): Promise<void>;
  state(): Promise<JobState>;
  /** Forgets jobs that have ended, well or not. */
  forgetEnded(): Promise<void>;
  close(): Promise<void>;
}

export interface JobState {
  /** Jobs that wait or are being done. */
  readonly open: number;
  /** Jobs that were given up, and why; the newest first. */
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}
