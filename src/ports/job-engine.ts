/** A turn of a partition of a shared crawl. It has no state: when its process dies, another one repeats it. */
export interface Job {
  /** Letters, digits, `_` and `-`. The same id is the same work. */
  readonly id: string;
  readonly partition: number;
}

/** End of a job: done, or released, to be taken again by any process after a delay. */
export type JobEnd = 'done' | { readonly laterMs: number };

/** A job queue shared by several processes without a master. Calls wait while the server is unreachable. */
export interface JobEngine {
  /** Queues a job. One that waits or runs is not queued twice; an ended one is queued again. */
  put(job: Job): Promise<void>;
  /**
   * Takes up to `atOnce` jobs at a time until the signal aborts; resolves when the taken ones have ended. A job that
   * rejects is retried a few times; then it has failed. When the process of a job shows no sign of life, another
   * process takes the job. The signal of a job is aborted when it was taken over, and when `signal` aborts.
   */
  work(
    perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
    options: { readonly atOnce: number; readonly signal: AbortSignal },
  ): Promise<void>;
  state(): Promise<JobState>;
  /** Forgets ended jobs, done and failed. */
  forgetEnded(): Promise<void>;
  close(): Promise<void>;
}

export interface JobState {
  /** Waiting and running jobs. */
  readonly open: number;
  /** Failed jobs and the reasons, newest first. */
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}
