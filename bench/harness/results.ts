/** Figures as they are kept: a file of JSON for each area, one figure a line. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Machine {
  readonly cores: number;
  /** GB; left out where it was not noted. */
  readonly memory?: number;
  readonly node: string;
}

/** One value of one metric, and how it came about. */
export interface Figure {
  /** The heading that it stands under. */
  readonly question: string;
  readonly metric: string;
  /** Two numbers: the range over several runs. */
  readonly value: number | readonly [number, number];
  readonly unit: string;
  /** What was measured, where that is not incrawl. */
  readonly program?: string;
  /** `<= 2.1`, `>= 95` or `= 0`. */
  readonly aim?: string;
  readonly command: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly machine: Machine;
  /** Whether other work was going on. */
  readonly load: 'idle' | 'busy';
  readonly commit: string;
  /** What the value was made from, by the headings of its columns. */
  readonly counts?: Readonly<Record<string, number>>;
  /** Digest of the file that was measured. */
  readonly contents?: string;
}

export interface Area {
  readonly area: string;
  readonly title: string;
  /** Lines of Markdown below the title. */
  readonly about: readonly string[];
  readonly plots: readonly { readonly file: string; readonly caption: string }[];
  /** Lines of Markdown below the heading of a question. */
  readonly notes: Readonly<Record<string, readonly string[]>>;
  readonly figures: readonly Figure[];
}

/** Figures of one question, metric and program replace each other. */
const keyOf = ({ question, metric, program = '' }: Figure): string => JSON.stringify([question, metric, program]);

/** Known figures in their order, replaced by new ones; what is new comes last in its question. */
export function merged(known: readonly Figure[], added: readonly Figure[]): Figure[] {
  const all = new Map([...known, ...added].map((figure) => [keyOf(figure), figure]));
  return [...byQuestion([...all.values()]).values()].flat();
}

/** Figures under their headings, in the order of these. */
export function byQuestion(figures: readonly Figure[]): Map<string, Figure[]> {
  const groups = new Map<string, Figure[]>();
  for (const figure of figures) groups.set(figure.question, [...(groups.get(figure.question) ?? []), figure]);
  return groups;
}

/** Whether any of the values of a figure is beyond its aim. */
export function isMissed({ value, aim }: Pick<Figure, 'value' | 'aim'>): boolean {
  if (aim === undefined) return false;
  const [, sign, text] = /^(<=|>=|=) (-?[\d.]+)$/.exec(aim) ?? [];
  if (text === undefined) throw new TypeError(`aim ${aim}: expected <=, >= or = and a number`);
  const bound = Number(text);
  const values = typeof value === 'number' ? [value] : value;
  return !values.every((each) => (sign === '<=' ? each <= bound : sign === '>=' ? each >= bound : each === bound));
}

/** Sums of runs in pieces, beside the areas. */
export const LONG_RUNS = 'long-runs.json';

/** Areas of a folder, by name. */
export const readAreas = (folder: string): Area[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== LONG_RUNS)
    .sort()
    .map((name) => readArea(folder, basename(name, '.json')));

export function readArea(folder: string, area: string): Area {
  const file = join(folder, `${area}.json`);
  if (!existsSync(file)) return { area, title: area, about: [], plots: [], notes: {}, figures: [] };
  return JSON.parse(readFileSync(file, 'utf8')) as Area;
}

/** Writes an area, a figure a line, so that changes of two people meet in few lines. */
export function writeArea(folder: string, { figures, ...head }: Area): void {
  const lines = figures.map((figure) => `    ${JSON.stringify(figure)}`);
  const text = `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "figures": [\n${lines.join(',\n')}\n  ]\n}\n`;
  writeFileSync(join(folder, `${head.area}.json`), text);
}
