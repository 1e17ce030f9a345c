/** The end of a simulated process: thrown by what it calls from then on, and by nothing else. */
export class SimulatedCrash extends Error {
  constructor() {
    super('the simulated process has ended here');
  }
}

/** How the name of an effect begins; empty: any effect. */
export type EffectKind = '' | 'write' | 'batch' | 'fsync';

/** Events kept for the report of a failure. */
const TRACED = 120;

/**
 * Decides at which effect on disk or db a process ends. Effects are numbered: a run that is repeated with the same seed
 * ends at the same one.
 */
export class Fate {
  #effects = 0;
  /** Effects of the kind that are left until the process ends in one. */
  #left = Number.POSITIVE_INFINITY;
  #kind: EffectKind = '';
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

  /** The process ends at the n-th effect of a kind from now, from 1. */
  crashIn(effects: number, kind: EffectKind): void {
    this.#left = effects;
    this.#kind = kind;
  }

  /** A new process begins; it does not end by itself. */
  revive(): void {
    this.#isDown = false;
    this.#left = Number.POSITIVE_INFINITY;
  }

  /** Counts an effect. `true`: the process ends in it, and it is up to the caller how much of it still happens. */
  isLast(what: string): boolean {
    this.#effects++;
    const isLast = what.startsWith(this.#kind) && --this.#left <= 0;
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
