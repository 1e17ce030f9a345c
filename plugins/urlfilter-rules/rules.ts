import { backtrackingFault } from './backtracking.ts';
import { readPattern } from './pattern.ts';

export interface Rule {
  /** Line in the file, from 1. */
  readonly line: number;
  /** The rule as written, sign included. */
  readonly text: string;
  readonly accept: boolean;
  /** `null`: every URL matches. */
  readonly regex: RegExp | null;
}

export interface RuleFile {
  readonly rules: readonly Rule[];
  /** What is allowed but hardly meant. */
  readonly warnings: readonly string[];
}

/**
 * Reads Nutch's file format: `+regex` lets a URL in, `-regex` keeps it out, `#` begins a comment line. A regular
 * expression matches anywhere unless anchored; `(?i)` at its beginning makes case not count.
 *
 * Throws an `Error` that lists every bad line as `file:line: what was expected`.
 *
 * @param maxUrlLength longest URL that will be asked about; bounds what a pattern may cost
 */
export function readRules(text: string, file: string, maxUrlLength: number): RuleFile {
  const rules: Rule[] = [];
  const faults: string[] = [];
  for (const [index, raw] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    try {
      rules.push(readRule(line, index + 1, maxUrlLength));
    } catch (error) {
      faults.push(`${file}:${index + 1}: ${(error as Error).message}`);
    }
  }
  if (rules.length === 0 && faults.length === 0)
    faults.push(`${file}: no rules, expected lines that begin with + or -`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { rules, warnings: warningsOf(rules, file) };
}

function readRule(line: string, number: number, maxUrlLength: number): Rule {
  const sign = line[0];
  if (sign !== '+' && sign !== '-') throw new SyntaxError(`expected + or - and a regular expression, found "${line}"`);
  const ignoreCase = line.startsWith('(?i)', 1);
  const source = line.slice(ignoreCase ? 5 : 1);
  if (source === '') throw new SyntaxError(`expected a regular expression after "${line}"; a dot matches everything`);
  const reduced = withoutIdleEnds(source);
  const regex = compile(reduced, source, ignoreCase);
  const fault = backtrackingFault(readPattern(reduced, ignoreCase), maxUrlLength);
  if (fault !== undefined) throw new SyntaxError(`"${line}" could take too long on some URLs: ${fault}`);
  return { line: number, text: line, accept: sign === '+', regex: MATCHES_ALL.has(reduced) ? null : regex };
}

function compile(reduced: string, source: string, ignoreCase: boolean): RegExp {
  const flags = ignoreCase ? 'i' : '';
  try {
    // As written, so that the message quotes what stands in the file.
    new RegExp(source, flags);
    return new RegExp(reduced, flags);
  } catch (error) {
    const reason = (error as Error).message.replace(/^Invalid regular expression: /, '');
    const hint = /[*+?}]\+|\(\?>/.test(source) ? ' (possessive and atomic groups are not known here)' : '';
    throw new SyntaxError(`expected a JavaScript regular expression, found ${reason}${hint}`);
  }
}

/**
 * Without a `.*` at either end: it changes nothing about whether a URL matches, but the engine would try the rest from
 * every place it can end at, once for every place it can begin at.
 */
function withoutIdleEnds(source: string): string {
  const fromStart = source.replace(/^\^?(?:\.\*\??)+/, '');
  const end = /(?:\.\*\??)+\$?$/.exec(fromStart);
  if (end === null || /(?:^|[^\\])(?:\\\\)*\\$/.test(fromStart.slice(0, end.index))) return fromStart;
  return fromStart.slice(0, end.index);
}

const MATCHES_ALL: ReadonlySet<string> = new Set(['', '.', '^', '$', '^.', '.+', '^.+', '.+$', '^.+$']);

function warningsOf(rules: readonly Rule[], file: string): string[] {
  const warnings: string[] = [];
  if (!rules.some(({ accept }) => accept)) warnings.push(`${file}: no rule begins with +, so every URL is dropped`);
  const catchAll = rules.findIndex(({ regex }) => regex === null);
  const unreached = catchAll < 0 ? undefined : rules[catchAll + 1];
  if (unreached !== undefined) {
    warnings.push(`${file}:${unreached.line}: never reached, line ${rules[catchAll]!.line} matches every URL`);
  }
  return warnings;
}
