/** From the report of a run to the figures of its files. */

/** The part of Stryker's report (schema 2 of mutation-testing-report-schema) that is read. */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'RuntimeError' | 'Ignored';
  /** Lines and columns are counted from 1; the end is the first place behind. */
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** A mutant that no test can kill, since the program does the same with it. */
export interface EqualMutant {
  readonly file: string;
  readonly mutator: string;
  /** The line of the source in which it begins, without blanks around. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

/** Mutants of a file by their end; those that broke the run itself are left out. */
export type Counts = Readonly<Record<'mutants' | 'killed' | 'timeout' | 'survived' | 'no coverage' | 'equal', number>>;

export interface Judged {
  readonly counts: Counts;
  /** Killed or timed out, of all that are not equal, in percent; 100 where there is none. */
  readonly score: number;
  readonly alive: readonly EqualMutant[];
  /** Mutants of the list that a test killed, so that they are not equal. */
  readonly wronglyEqual: readonly EqualMutant[];
}

const isSame = (a: EqualMutant, b: EqualMutant): boolean =>
  a.file === b.file &&
  a.mutator === b.mutator &&
  a.line === b.line &&
  a.original === b.original &&
  a.replacement === b.replacement;

/** The text between two places of a source. */
function textBetween(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = (lines.at(-1) as string).slice(0, end.column - 1);
  lines[0] = (lines[0] as string).slice(start.column - 1);
  return lines.join('\n');
}

/** A mutant as an entry of the list names it. */
const namedAs = (file: string, source: string, mutant: Mutant): EqualMutant => ({
  file,
  mutator: mutant.mutatorName,
  line: (source.split('\n')[mutant.location.start.line - 1] as string).trim(),
  original: textBetween(source, mutant.location),
  replacement: mutant.replacement,
  reason: '',
});

/** Counts the mutants of a file. */
export function judged(file: string, report: StrykerReport, equal: readonly EqualMutant[]): Judged {
  const { source, mutants } = report.files[file] ?? { source: '', mutants: [] };
  const ended = mutants.map((mutant) => {
    const name = namedAs(file, source, mutant);
    return { status: mutant.status, name, isEqual: equal.some((each) => isSame(each, name)) };
  });
  const caught = ended.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  const living = ended.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const alive = living.filter(({ isEqual }) => !isEqual);
  const judgable = caught.length + alive.length;
  const count = (ends: readonly { status: Mutant['status'] }[], sought: Mutant['status']): number =>
    ends.filter(({ status }) => status === sought).length;
  return {
    counts: {
      mutants: caught.length + living.length,
      killed: count(caught, 'Killed'),
      timeout: count(caught, 'Timeout'),
      survived: count(alive, 'Survived'),
      'no coverage': count(alive, 'NoCoverage'),
      equal: living.length - alive.length,
    },
    score: judgable === 0 ? 100 : (100 * caught.length) / judgable,
    alive: alive.map(({ name }) => name),
    wronglyEqual: caught.filter(({ isEqual }) => isEqual).map(({ name }) => name),
  };
}
