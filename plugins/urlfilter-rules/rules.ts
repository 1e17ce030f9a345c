import { RE2JS, RE2JSSyntaxException } from 're2js';

export interface Rule {
  /** Line in the file, from 1. */
  readonly line: number;
  /** The rule as written, sign included. */
  readonly text: string;
  readonly accept: boolean;
  /** `null`: every URL matches. */
  readonly regex: RE2JS | null;
}

export interface RuleFile {
  readonly rules: readonly Rule[];
  /** Rules that are valid but probably not intended. */
  readonly warnings: readonly string[];
}

/**
 * Reads Nutch's file format: `+regex` lets a URL in, `-regex` keeps it out, `#` begins a comment line. A regular
 * expression (RE2 syntax) matches anywhere in the URL unless anchored.
 *
 * Throws an `Error` that lists every bad line as `file:line: fault`.
 */
export function readRules(text: string, file: string): RuleFile {
  const rules: Rule[] = [];
  const faults: string[] = [];
  for (const [index, raw] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    try {
      rules.push(readRule(line, index + 1));
    } catch (error) {
      faults.push(`${file}:${index + 1}: ${(error as Error).message}`);
    }
  }
  if (rules.length === 0 && faults.length === 0)
    faults.push(`${file}: no rules, expected lines that begin with + or -`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { rules, warnings: warningsOf(rules, file) };
}

function readRule(line: string, number: number): Rule {
  const sign = line[0];
  if (sign !== '+' && sign !== '-') throw new SyntaxError(`expected + or - and a regular expression, found "${line}"`);
  const source = line.slice(1);
  if (source === '' || source === '(?i)')
    throw new SyntaxError(`expected a regular expression after "${line}"; a dot matches every URL`);
  const regex = compile(source, line);
  return { line: number, text: line, accept: sign === '+', regex: MATCHES_ALL.test(source) ? null : regex };
}

function compile(source: string, line: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const advice = UNSUPPORTED.find(([syntax]) => syntax.test(source))?.[1];
    const reason = advice ?? error.message.replace('error parsing regexp: ', '').replace('Perl ', '');
    throw new SyntaxError(`"${line}" is no regular expression that the filter can run: ${reason}`);
  }
}

/** Syntax of Java's and JavaScript's engines that cannot be matched in linear time, or that RE2 writes differently. */
const UNSUPPORTED: readonly (readonly [syntax: RegExp, advice: string])[] = [
  [
    /\(\?<?[=!]/,
    'lookahead and lookbehind, (?=..) (?!..) (?<=..) (?<!..), are not supported; ' +
      'put the exception on a line of its own before this one',
  ],
  [
    /\\(?:[1-9]|k<)/,
    'backreferences, \\1 to \\9 and \\k<name>, are not supported; for paths that repeat themselves delete this line, ' +
      'urlfilter-traps keeps them out',
  ],
  [/[*+?}]\+/, 'possessive quantifiers, *+ ++ ?+, are not supported; leave out the second sign'],
  [/\(\?>/, 'atomic groups, (?>..), are not supported; write (?:..)'],
  [/\\Z/, '\\Z is not supported; write $'],
  [/\\u[0-9a-fA-F]{4}/, '\\uHHHH is not supported; write \\x{HHHH}'],
  [/\\p\{[A-Z][a-z]{4,}\}/, 'classes such as \\p{Alpha} are not supported; write [[:alpha:]]'],
];

/** Patterns that match every URL: a URL is never empty and has no line break. */
const MATCHES_ALL = /^(?:\^?\.|\^|\$|\^?\.[*+]\??\$?)$/;

function warningsOf(rules: readonly Rule[], file: string): string[] {
  const warnings: string[] = [];
  if (!rules.some(({ accept }) => accept)) warnings.push(`${file}: no rule begins with +, so every URL is kept out`);
  const catchAll = rules.findIndex(({ regex }) => regex === null);
  const unreached = catchAll < 0 ? undefined : rules[catchAll + 1];
  if (unreached !== undefined) {
    warnings.push(`${file}:${unreached.line}: never reached, line ${rules[catchAll]!.line} matches every URL`);
  }
  return warnings;
}
