/** The end of a simulated process: thrown by what it calls from then on, and by nothing else. */
export class SimulatedCrash extends Error {
  constructor() {
    super('the simulated process has ended here');
  }
}

/** Events kept for the report of a failure. */
const TRACED = 120;

/**
 * Decides at which effect on disk or db a process ends. Effects are numbered: a run that is repeated with the same seed
 * ends at the same one.
 */
export class Fate {
  #effects = 0;
  #crashAt = Number.POSITIVE_INFINITY;
  #isDown = false;
  readonly #trace: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Effects of all processes so far. */
  get effects(): number {
    return this.#effects;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The process ends at the n-th effect from now, from 1. */
  crashIn(effects: number): void {
    this.#crashAt = this.#effects + effects;
  }

  /** A new process begins; it does not end by itself. */
  revive(): void {
    this.#isDown = false;
    this.#crashAt = Number.POSITIVE_INFINITY;
  }

  /** Counts an effect. `true`: the process ends in it, and it is up to the caller how much of it still happens. */
  isLast(what: string): boolean {
    this.#effects++;
    const isLast = this.#effects >= this.#crashAt;
    this.note(isLast ? `CRASH in ${what}` : what);
    if (isLast) this.#isDown = true;
    return isLast;
  }

  note(what: string): void {
    this.#trace.push(`${new Date(this.#now()).toISOString().slice(5, 23)} #${this.#effects} ${what}`);
    if (this.#trace.length > TRACED) this.#trace.shift();
  }

  get trace(): readonly string[] {
    return this.#trace;
  }
}
