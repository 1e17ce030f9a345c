/** The turn of a task: one request, unless it says otherwise. */
export interface LaneTurn {
  /** Nothing was asked of the host in this turn, so the next one need not wait for it. */
  spare(): void;
  /**
   * Ends this turn and settles when the task has the next one, before all tasks that wait; meanwhile it holds no global
   * slot. Rejects with the signal's reason when aborted before that.
   */
  next(): Promise<void>;
}

/**
 * One lane per active host: at most `connectionsPerHost` tasks of a host run at a time (1 by default), and the next one
 * starts no sooner than the host's delay after the *end* of the one before. A global limit bounds all lanes together. A
 * lane that is waiting holds no global slot. Idle lanes are forgotten, their last end is remembered as long as it
 * matters.
 */
export interface HostLanes {
  /**
   * Runs the task when it is the host's turn; settles as the task does. Rejects with the signal's reason if aborted
   * before it started.
   */
  run<T>(host: string, task: (turn: LaneTurn) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Delay between requests to this host from now on, ms (robots Crawl-delay raised to the configured minimum by the
   * caller).
   */
  setDelay(host: string, delayMs: number): void;
  /** No task of this host starts before this time (ms since the epoch). */
  pauseUntil(host: string, at: number): void;
  /** Tasks waiting or running, per host and in all. */
  readonly size: number;
  sizeOf(host: string): number;
  /** The hosts with most tasks, for the live view. */
  busiest(limit: number): readonly { readonly host: string; readonly waiting: number; readonly running: number }[];
  /**
   * Hosts that must not be asked before a time yet to come (ms since the epoch), and that time: what the next process
   * has to know.
   */
  resting(): readonly (readonly [host: string, until: number])[];
  onIdle(): Promise<void>;
}
