/** The turn of a task: one request, unless `next` is called. */
export interface LaneTurn {
  /** No request was sent in this turn: the next one need not wait for the delay. */
  spare(): void;
  /**
   * Ends this turn and resolves when the task has the next one, ahead of all waiting tasks; it holds no global slot
   * meanwhile. Rejects as {@link HostLanes.run} does before the start.
   */
  next(): Promise<void>;
}

/** The delay of a host, and the one below which the operator cannot go, ms. */
export interface LengthenedDelay {
  readonly delayMs: number;
  readonly leastMs: number;
}

/**
 * One lane per active host: at most `connectionsPerHost` tasks of a host run at a time (1 by default), and the next one
 * starts no sooner than the host's delay after the *end* of the one before. A global limit bounds all lanes together; a
 * waiting lane holds no global slot. Idle lanes are dropped; their last end is kept as long as it delays a start.
 */
export interface HostLanes {
  /**
   * Runs the task at the host's turn; settles as the task does. Rejects with the signal's reason when aborted before
   * the start, and with `TurnTooLate` when delay or pause of the host put the turn after `latest()`, which is called
   * once the task is the next one of its host.
   * @param latest the latest start that is waited for, ms since the epoch; absent: any
   */
  run<T>(host: string, task: (turn: LaneTurn) => Promise<T>, signal?: AbortSignal, latest?: () => number): Promise<T>;
  /** Sets the delay between requests to this host, ms (the caller raises a Crawl-delay to the configured minimum). */
  setDelay(host: string, delayMs: number): void;
  /** The delay that the operator set for this host, ms; `undefined`: the general one. */
  ownDelayMs(host: string): number | undefined;
  /** No task of this host starts before this time (ms since the epoch). */
  pauseUntil(host: string, at: number): void;
  /**
   * The delay that an operator asks for while the process runs, ms; 0: none. It holds where it is longer than the
   * configured one: no host gets more requests than robots.txt and the configuration allow.
   */
  lengthenDelay(host: string, delayMs: number): LengthenedDelay;
  /** No turn begins until {@link release}; those that have begun go on. */
  hold(): void;
  release(): void;
  /** Turns that have begun and not ended, over all hosts. */
  readonly running: number;
  /** Tasks waiting or running, per host and in all. */
  readonly size: number;
  sizeOf(host: string): number;
  /** The hosts with most tasks, for the live view. */
  busiest(limit: number): readonly { readonly host: string; readonly waiting: number; readonly running: number }[];
  /**
   * Hosts that must not be requested before a future time (ms since the epoch), and that time: what the next process
   * has to know.
   */
  resting(): readonly (readonly [host: string, until: number])[];
  onIdle(): Promise<void>;
}
