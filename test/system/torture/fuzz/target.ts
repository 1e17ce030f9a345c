// test/system/torture/fuzz/: fuzzing of everything that reads bytes of strangers.

/** A parser of foreign bytes, and what must hold for every input. */
export interface FuzzTarget {
  /** Also the folder of its inputs in `test/corpus`. */
  readonly name: string;
  /** Words of its grammar: inserted into inputs, and strung together to new ones. */
  readonly words: readonly string[];
  /**
   * The most steps of a check, as `steps/step-counter.ts` counts them, for each byte of the input and 256 more: about
   * three times the most that was seen. `null`: it works in another process, where they are not counted.
   */
  readonly stepsPerByte: number | null;
  /** Steps on top, where they do not go by the bytes alone; default: none. */
  readonly moreSteps?: (input: Buffer) => number;
  /** Throws, or rejects, when a property does not hold. */
  check(input: Buffer): void | Promise<void>;
  /** Runs in a test of the suite; fewer for those with connections. Default 150. */
  readonly runs?: number;
  /** It is slow by nature, as with connections: it gets a quarter of the time that another target has. */
  readonly isSlow?: boolean;
  close?(): Promise<void>;
}

/** Throws when a property does not hold; `what` states the property. */
export function holds(condition: boolean, what: string, ...seen: readonly unknown[]): void {
  if (condition) return;
  throw new Error([`does not hold: ${what}`, ...seen.map((each) => JSON.stringify(each)?.slice(0, 500))].join('\n'));
}

/** Text of an input whose parser reads text. */
export const textOf = (input: Buffer): string => input.toString('utf8');
