// test/system/torture/fuzz/: fuzzing of everything that reads bytes of strangers.

/** A parser of foreign bytes, and what must hold for every input. */
export interface FuzzTarget {
  /** Also the folder of its inputs in `test/corpus`. */
  readonly name: string;
  /** Words of its grammar: inserted into inputs, and strung together to new ones. */
  readonly words: readonly string[];
  /** Throws, or rejects, when a property does not hold. */
  check(input: Buffer): void | Promise<void>;
  /** Runs in a test of the suite; fewer for those with connections. Default 300. */
  readonly runs?: number;
  close?(): Promise<void>;
}

/** Throws when a property does not hold; `what` states the property. */
export function holds(condition: boolean, what: string, ...seen: readonly unknown[]): void {
  if (condition) return;
  throw new Error([`does not hold: ${what}`, ...seen.map((each) => JSON.stringify(each)?.slice(0, 500))].join('\n'));
}

/** Text of an input whose parser reads text. */
export const textOf = (input: Buffer): string => input.toString('utf8');
