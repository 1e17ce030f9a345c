/** What a measurement is: options with their defaults, and a run that says figures. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Figure, isMissed } from './results.ts';

/** By its default an option is a number, a text, a switch, numbers between commas, or a text that may be repeated. */
export type OptionValue = number | string | boolean | readonly number[] | readonly string[];
export type Options = Readonly<Record<string, OptionValue>>;

/** Takes a value under the question that it was made for. */
export type Note = (metric: string, value: number, unit?: string, aim?: string, program?: string) => void;
export type Said = Pick<Figure, 'question' | 'metric' | 'unit'> & { value: number; aim?: string; program?: string };

export interface Bench {
  say(text: string): void;
  /** Columns as wide as what they hold; the first to the left. */
  table(heading: readonly string[], rows: readonly (readonly string[])[]): void;
  question(question: string): Note;
}

export interface Measurement {
  /** File of `bench/results` that takes its figures. */
  readonly area: string;
  readonly options: Options;
  run(bench: Bench, options: never): void | Promise<void>;
}

type Widened<Value> = Value extends number
  ? number
  : Value extends string
    ? string
    : Value extends boolean
      ? boolean
      : Value extends readonly number[]
        ? readonly number[]
        : readonly string[];

export function measurement<Own extends Options>(
  area: string,
  options: Own,
  run: (bench: Bench, options: { readonly [Name in keyof Own]: Widened<Own[Name]> }) => void | Promise<void>,
): Measurement {
  return { area, options, run };
}

/** What is wrong with the words of a command, or missing on the machine, and what to do. */
export class UsageError extends Error {}

/** Reads options; those that are not given keep their defaults. */
export function readOptions(args: readonly string[], defaults: Options): Record<string, OptionValue> {
  const config: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: typeof value === 'boolean' ? 'boolean' : 'string', multiple: isTexts(value) },
    ]),
  );
  let given: Record<string, unknown>;
  try {
    given = parseArgs({ args: [...args], options: config }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, name in given ? read(name, given[name], value) : value]),
  );
}

const isTexts = (value: OptionValue): boolean =>
  Array.isArray(value) && (value.length === 0 || typeof value[0] === 'string');

function read(name: string, given: unknown, known: OptionValue): OptionValue {
  if (typeof known === 'string' || typeof known === 'boolean' || isTexts(known)) return given as OptionValue;
  const numbers = String(given).split(',').map(Number);
  if (numbers.some(Number.isNaN))
    throw new UsageError(
      `--${name} ${given}: expected ${Array.isArray(known) ? 'numbers between commas' : 'a number'}`,
    );
  return Array.isArray(known) ? numbers : (numbers[0] as number);
}

/** A bench that writes lines, and gives each figure on. */
export function benchOf(write: (line: string) => void, take: (figure: Said) => void): Bench {
  return {
    say: write,
    table(heading, rows) {
      const widths = heading.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]?.length ?? 0)));
      for (const row of [heading, ...rows])
        write(
          row
            .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
            .join('  ')
            .trimEnd(),
        );
    },
    question(question) {
      write(question);
      return (metric, value, unit = '', aim, program) => {
        const figure = { question, metric, value, unit, ...(aim && { aim }), ...(program && { program }) };
        const mark = aim === undefined ? '    ' : isMissed(figure) ? 'FAIL' : 'PASS';
        const name = program === undefined ? metric : `${program}: ${metric}`;
        write(`${mark}  ${name}: ${shown(value)}${unit && ` ${unit}`}${aim === undefined ? '' : ` (${aim})`}`);
        take(figure);
      };
    },
  };
}

/** Four digits, and all of a whole number. */
export const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(4)));
const shown = (value: number): string => rounded(value).toLocaleString('en', { maximumFractionDigits: 6 });
