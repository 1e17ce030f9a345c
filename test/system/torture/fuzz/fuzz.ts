import { setImmediate as turn } from 'node:timers/promises';
import { UsageError } from '../../../../bench/harness/measurement.ts';
import type { Piece } from '../pieces/piece.ts';
import { addToCorpus, corpusOf } from './corpus.ts';
import { type InputMaker, inputMaker, madeSmall } from './inputs.ts';
import { ratioOf, StepCounter, wrongSteps } from './steps/step-counter.ts';
import type { FuzzTarget } from './target.ts';
import { fuzzTargets } from './targets.ts';
import { Watchdog } from './watchdog.ts';

export interface FoundInput {
  readonly number: number;
  /** The smallest one that was found. */
  readonly input: Buffer;
  readonly reason: string;
}

const SMALLER_MS = 60_000;

/** Tries so many inputs from a number on; the first that a property does not hold for, made small. */
export async function tryInputs(target: FuzzTarget, first: number, runs: number): Promise<FoundInput | null> {
  const maker = makerOf(target);
  for (let number = first; number < first + runs; number++) {
    const input = maker.input(number);
    const wrong = await wrongIn(target, input);
    if (wrong !== '') return { number, reason: wrong, input: await smallest(target, input) };
  }
  return null;
}

const makerOf = ({ name, words }: FuzzTarget): InputMaker =>
  inputMaker(
    name,
    corpusOf(name).map(({ input }) => input),
    words,
  );

const smallest = (target: FuzzTarget, input: Buffer): Promise<Buffer> =>
  madeSmall(input, async (smaller) => (await wrongIn(target, smaller)) !== '', SMALLER_MS);

async function wrongIn(target: FuzzTarget, input: Buffer): Promise<string> {
  try {
    const checked = target.check(input);
    if (checked !== undefined) await checked;
    return '';
  } catch (error) {
    return error instanceof Error ? error.message || error.name : String(error);
  }
}

export interface FuzzOptions {
  /** One target alone. */
  readonly only?: string | undefined;
  /** Inputs of each target, at most. */
  readonly count?: number;
}

/** Each target has the parser in turn for so long, ms; one that is slow by nature for a quarter of it. */
const SLICE_MS = 2_000;
/** Steps are counted for one input of so many, and for the same input grown. */
const COUNT_EACH = 1_000;
/** They are also counted where an input takes that much longer than others, and longer than so many ms. */
const TIMES_LONGER = 20;
const SLOW_MS = 20;
/** A check ends within this time, ms, however busy the machine is. */
const MAX_MS = 30_000;
const MOST_WAITING = 6;
/** One cause makes many inputs fail: a target that has failed so often waits for its mending. */
const MOST_FAILURES = 3;

/**
 * Fuzzes every parser of foreign bytes in turn until the piece is over. A failing input is made small, reported with
 * its number, which makes it again, and added to `test/corpus`, where every run of the tests tries it.
 */
export async function fuzz(
  say: (line: string) => void,
  piece: Piece,
  { only, count = Number.POSITIVE_INFINITY }: FuzzOptions = {},
): Promise<{ readonly failures: number; readonly inputs: number }> {
  const targets = await fuzzTargets();
  const chosen = targets.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0)
    throw new UsageError(`--target ${only}: expected one of ${targets.map(({ name }) => name).join(', ')}`);
  const guards = { counter: new StepCounter(), watchdog: new Watchdog(chosen.map(({ name }) => name)) };
  const series = chosen.map((target) => new Series(target, guards, piece, say));
  try {
    do {
      for (const each of series) {
        await each.slice(count);
        if (piece.isOver()) break;
      }
    } while (!piece.isOver() && series.some((each) => each.isOpen(count)));
    for (const each of series) await each.settled();
  } finally {
    piece.keep();
    await guards.counter.close();
    await guards.watchdog.close();
    for (const target of targets) await target.close?.();
  }
  const [inputs, failures] = [sum(series.map(({ tried }) => tried)), sum(series.map((each) => each.failures))];
  say(`fuzz: ${inputs} inputs, ${failures} failures (${series.map((each) => each.summary()).join(', ')})`);
  return { failures, inputs };
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

interface Guards {
  readonly counter: StepCounter;
  readonly watchdog: Watchdog;
}

/** The inputs of one target in their order. */
class Series {
  tried = 0;
  failures = 0;
  readonly #target: FuzzTarget;
  readonly #maker: InputMaker;
  readonly #guards: Guards;
  readonly #piece: Piece;
  readonly #say: (line: string) => void;
  readonly #counts = new Set<Promise<void>>();
  #next: number;
  #spentMs = 0;
  #mostSteps = 0;

  constructor(target: FuzzTarget, guards: Guards, piece: Piece, say: (line: string) => void) {
    this.#target = target;
    this.#maker = makerOf(target);
    this.#guards = guards;
    this.#piece = piece;
    this.#say = say;
    this.#next = piece.first(target.name);
  }

  /** Tries inputs for a while, one at least. @param count of all slices, at most */
  async slice(count: number): Promise<void> {
    if (!this.isOpen(count)) return;
    // Signals, and answers of the counter, arrive between turns alone.
    await turn();
    const { name, isSlow = false } = this.#target;
    const end = performance.now() + (isSlow ? SLICE_MS / 4 : SLICE_MS);
    const before = this.tried;
    do await this.#try(this.#next++);
    while (performance.now() < end && this.isOpen(count) && !this.#piece.isStopped());
    this.#piece.add({ next: { [name]: this.#next }, sums: { inputs: this.tried - before } });
  }

  /** Whether another input may be tried. */
  isOpen(count: number): boolean {
    return this.tried < count && this.failures < MOST_FAILURES;
  }

  /** Resolves when all counts of steps are known. */
  async settled(): Promise<void> {
    await Promise.all(this.#counts);
  }

  summary(): string {
    const each = ((1_000 * this.#spentMs) / this.tried).toFixed(0);
    return `${this.#target.name} ${this.tried} of ${each} µs, ${Math.round(this.#mostSteps)} steps a byte`;
  }

  async #try(number: number): Promise<void> {
    const input = this.#maker.input(number);
    const beganAt = performance.now();
    this.#guards.watchdog.begin(this.#target.name, number);
    const wrong = await wrongIn(this.#target, input);
    this.#guards.watchdog.end();
    const ms = performance.now() - beganAt;
    const isLong = ms > SLOW_MS && ms > (TIMES_LONGER * this.#spentMs) / Math.max(1, this.tried);
    this.tried++;
    this.#spentMs += ms;
    if (wrong !== '') await this.#fail(number, wrong, await smallest(this.#target, input));
    else if (ms > MAX_MS) await this.#fail(number, `it takes ${Math.round(ms / 1_000)} s`, input);
    if (this.#target.stepsPerByte === null) return;
    const isDrawn = number % COUNT_EACH === 0;
    if (isLong || isDrawn) await this.#count(number, input);
    if (isDrawn) await this.#count(number, this.#maker.grown(number));
  }

  async #count(number: number, input: Buffer): Promise<void> {
    const counting = this.#judge(number, input).finally(() => this.#counts.delete(counting));
    this.#counts.add(counting);
    if (this.#guards.counter.waiting > MOST_WAITING) await Promise.race(this.#counts);
  }

  async #judge(number: number, input: Buffer): Promise<void> {
    const { name } = this.#target;
    const steps = await this.#guards.counter.count(name, input);
    const ratio = Math.round(ratioOf(steps, input));
    this.#mostSteps = Math.max(this.#mostSteps, ratio);
    this.#piece.add({ sums: { counted: 1 }, peaks: { [name]: ratio } });
    const wrong = wrongSteps(this.#target, steps, input);
    if (wrong !== '') await this.#fail(number, wrong, input);
  }

  async #fail(number: number, reason: string, input: Buffer): Promise<void> {
    this.failures++;
    const { name } = this.#target;
    const file = addToCorpus(name, input);
    const replay = `npm run torture -- --fuzz --target ${name} --seed ${number}`;
    this.#piece.add({ failures: [{ replay, reason: `${reason}\n${file}` }] });
    this.#say(`FAILED ${name}: ${reason}\n  ${input.length} bytes, kept as test/corpus/${file}\n  ${replay}`);
  }
}
