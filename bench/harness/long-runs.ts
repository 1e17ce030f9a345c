/** What `npm run torture -- --add` has tried so far, in pieces: the file of `bench/results` that they add up in. */
import { z } from 'zod';
import type { Occasion } from './occasion.ts';
import { type Figure, LONG_RUNS } from './results.ts';

export const LONG_PARTS = ['simulate', 'fuzz', 'faults', 'kills', 'spread', 'soak', 'year'] as const;
export type LongPart = (typeof LONG_PARTS)[number];

/** The mark by which a file is known as one of these. */
const FORMAT = 'incrawl long runs 1';

/** Counts that are added, and greatest values, by what they are of. */
const sums = z.record(z.string(), z.number().nonnegative());
const date = z.string().regex(/^20\d\d-\d\d-\d\d$/, 'expected YYYY-MM-DD');
const text = z.string().min(1);

/** What was tried at one commit. */
const work = z.strictObject({
  commit: text,
  from: date,
  to: date,
  machine: z.strictObject({ cores: z.int().positive(), memory: z.number().optional(), node: text }),
  sums,
  peaks: sums.optional(),
});

const failure = z.strictObject({
  /** The command that shows it again, on its commit. */
  replay: text,
  reason: text,
  commit: text,
  date,
  /** The commit, or the subject of it, that mends the cause: the failure counts no longer. */
  mended: text.optional(),
});

const part = z.strictObject({
  /** The first number of each series that was never tried; series count from 1. */
  next: z.record(z.string(), z.int().positive()),
  /** Series of which nothing is left. */
  complete: z.array(text),
  work: z.array(work),
  failures: z.array(failure),
});

const longRuns = z.strictObject({ format: z.literal(FORMAT), parts: z.partialRecord(z.enum(LONG_PARTS), part) });

export type Work = z.infer<typeof work>;
export type Failure = z.infer<typeof failure>;
export type PartSoFar = z.infer<typeof part>;
export type LongRuns = z.infer<typeof longRuns>;
export type Sums = Readonly<Record<string, number>>;

/** What a piece adds. */
export interface Added {
  readonly next?: Sums;
  readonly complete?: readonly string[];
  readonly sums?: Sums;
  readonly peaks?: Sums;
  readonly failures?: readonly Pick<Failure, 'replay' | 'reason'>[];
}

const MAX_REASON = 600;

export const NO_RUNS: LongRuns = { format: FORMAT, parts: {} };
const NOTHING: PartSoFar = { next: {}, complete: [], work: [], failures: [] };

/** Throws an `Error` that says what of the file is not as expected. */
export function parseLongRuns(content: string, file: string): LongRuns {
  let read: unknown;
  try {
    read = JSON.parse(content);
  } catch (error) {
    throw new Error(`${file}: expected JSON with "format": "${FORMAT}": ${(error as Error).message}`);
  }
  const { success, data, error } = longRuns.safeParse(read);
  if (success) return data;
  const faults = error.issues.slice(0, 3).map(({ path, message }) => `  ${path.join('.') || 'the whole'}: ${message}`);
  throw new Error([`${file}: expected sums of long runs, "format": "${FORMAT}"`, ...faults].join('\n'));
}

/** Text of the file: pieces and failures each on a line, so that changes of two people meet in few lines. */
export function longRunsText({ format, parts }: LongRuns): string {
  const lines = (values: readonly unknown[]): string =>
    values.length === 0 ? '[]' : `[\n${values.map((value) => `        ${JSON.stringify(value)}`).join(',\n')}\n      ]`;
  const texts = Object.entries(parts).map(
    ([name, { next, complete, work: works, failures }]) =>
      `    ${JSON.stringify(name)}: {\n      "next": ${JSON.stringify(next)},\n` +
      `      "complete": ${JSON.stringify(complete)},\n      "work": ${lines(works)},\n` +
      `      "failures": ${lines(failures)}\n    }`,
  );
  const inner = texts.length === 0 ? '{}' : `{\n${texts.join(',\n')}\n  }`;
  return `{\n  "format": ${JSON.stringify(format)},\n  "parts": ${inner}\n}\n`;
}

export const partOf = (runs: LongRuns, name: LongPart): PartSoFar => runs.parts[name] ?? NOTHING;

/** The same with a piece more. A number of a series that is behind the known one changes nothing. */
export function withAdded(runs: LongRuns, name: LongPart, added: Added, at: Occasion): LongRuns {
  const known = partOf(runs, name);
  const { next = {}, complete = [], failures = [] } = added;
  const found = failures.map(({ replay, reason }) => {
    return { replay, reason: reason.slice(0, MAX_REASON), commit: at.commit, date: at.date };
  });
  const whole: PartSoFar = {
    next: combined(known.next, next, Math.max),
    complete: [...new Set([...known.complete, ...complete])],
    work: withWork(known.work, added, at),
    failures: [...known.failures, ...found],
  };
  return { ...runs, parts: { ...runs.parts, [name]: whole } };
}

function withWork(known: readonly Work[], { sums: more = {}, peaks = {} }: Added, at: Occasion): Work[] {
  const { commit, date: day, machine } = at;
  const isSame = (each: Work): boolean =>
    each.commit === commit && each.machine.node === machine.node && each.machine.cores === machine.cores;
  const same: Work = known.find(isSame) ?? { commit, from: day, to: day, machine, sums: {} };
  const highest = combined(same.peaks ?? {}, peaks, Math.max);
  const grown: Work = {
    ...same,
    to: [same.to, day].sort().at(-1)!,
    sums: combined(same.sums, more, (one, other) => rounded(one + other)),
    ...(Object.keys(highest).length > 0 && { peaks: highest }),
  };
  return [...known.filter((each) => !isSame(each)), grown];
}

/** Sums of times are no whole numbers; six digits are enough of them. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

function combined(known: Sums, added: Sums, join: (one: number, other: number) => number): Record<string, number> {
  const all: Record<string, number> = { ...known };
  for (const [name, value] of Object.entries(added)) all[name] = name in all ? join(all[name]!, value) : value;
  return all;
}

export const sumsOf = ({ work: works }: PartSoFar): Sums =>
  works.reduce<Sums>((all, each) => combined(all, each.sums, (one, other) => rounded(one + other)), {});

export const openFailures = ({ failures }: PartSoFar): readonly Failure[] =>
  failures.filter(({ mended }) => mended === undefined);

const number = (value: number | undefined): string => (value ?? 0).toLocaleString('en', { maximumFractionDigits: 2 });

/** Errors that calls may answer; the faults are complete when each of these series is. */
export const FAULT_SERIES = 14;

interface Row {
  readonly unit: string;
  readonly aim?: string;
  readonly command: string;
  readonly of: (sums: Sums, part: PartSoFar) => readonly [metric: string, value: number];
}

const ROWS: Readonly<Record<LongPart, Row>> = {
  simulate: {
    unit: 'hours',
    aim: '>= 8',
    command: '--simulate --hours 0.5 --add',
    of: ({ seconds = 0, crawls, days, processes, crashes }) => [
      `simulated crawls: ${number(crawls)} over ${number(days)} days, ${number(crashes)} of ${number(processes)} processes cut off`,
      Math.round(seconds / 36) / 100,
    ],
  },
  fuzz: {
    unit: 'inputs',
    aim: '>= 10000000',
    command: '--fuzz --hours 0.5 --add',
    of: ({ inputs = 0, counted }, { next }) => {
      const shares = Object.entries(next).map(([target, first]) => `${target} ${number(first - 1)}`);
      return [`inputs: ${shares.join(', ')}; steps counted of ${number(counted)}`, inputs];
    },
  },
  faults: {
    unit: 'kinds',
    aim: '= 0',
    command: '--faults --minutes 30 --add',
    of: ({ calls }, { complete }) => [
      `kinds of failing calls that are not all tried: ${number(calls)} calls failed`,
      Math.max(0, FAULT_SERIES - complete.length),
    ],
  },
  kills: {
    unit: 'kills',
    aim: '>= 1000',
    command: '--kills --count 250 --add',
    of: ({ kills = 0, attempts }) => [`kills, of ${number(attempts)} attempts`, kills],
  },
  spread: {
    unit: 'crawls',
    command: '--spread --count 10 --add',
    of: ({ crawls = 0, kill, pause, store }) => [
      `spread crawls: ${number(kill)} kills, ${number(store)} of a server, ${number(pause)} pauses`,
      crawls,
    ],
  },
  soak: {
    unit: 'minutes',
    command: '--soak --minutes 60 --add',
    of: ({ minutes = 0, runs }) => [`soak, ${number(runs)} runs`, minutes],
  },
  year: {
    unit: 'days',
    command: '--year --add',
    of: ({ days = 0, runs }) => [`simulated years, ${number(runs)} runs`, days],
  },
};

const QUESTION = 'Long runs, added up piece by piece';

/** A row for each part that was tried, and one for what failed and is not mended. */
export function longRunFigures(runs: LongRuns): Figure[] {
  const tried = LONG_PARTS.filter((name) => partOf(runs, name).work.length > 0);
  const last = (works: readonly Work[]): Omit<Figure, 'metric' | 'value' | 'unit' | 'command'> => {
    const { commit, to, machine } = works.reduce((one, other) => (other.to >= one.to ? other : one));
    const { memory, ...rest } = machine;
    const where = { ...rest, ...(memory !== undefined && { memory }) };
    return { question: QUESTION, date: to, machine: where, load: 'busy', commit };
  };
  const figures = tried.map((name): Figure => {
    const known = partOf(runs, name);
    const { unit, aim, command, of } = ROWS[name];
    const [metric, value] = of(sumsOf(known), known);
    const run = `npm run torture -- ${command}`;
    return { ...last(known.work), metric, value, unit, ...(aim !== undefined && { aim }), command: run };
  });
  if (tried.length === 0) return [];
  const failures = tried.flatMap((name) => openFailures(partOf(runs, name)));
  const all = last(tried.flatMap((name) => partOf(runs, name).work));
  const metric = 'failures of these that are not mended';
  return [...figures, { ...all, metric, value: failures.length, unit: 'failures', aim: '= 0', command: FAILURES }];
}

const FAILURES = `the lines of bench/results/${LONG_RUNS}`;
