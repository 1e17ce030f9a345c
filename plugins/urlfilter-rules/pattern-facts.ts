/** What can be said of a pattern from its parts, without running it. */
import { type CharacterSet, NO_CHARACTER } from './character-set.ts';
import type { Pattern } from './pattern.ts';

/** Whether no text can begin as both demand: they differ at some place before either gets variable or ends. */
export function areExclusive(a: Pattern, b: Pattern): boolean {
  const [first, second] = [fixedPrefix(a), fixedPrefix(b)];
  for (const [index, set] of first.entries()) {
    const other = second[index];
    if (other === undefined) return false;
    if ((set & other) === NO_CHARACTER) return true;
  }
  return false;
}

function fixedPrefix(pattern: Pattern): CharacterSet[] {
  const prefix: CharacterSet[] = [];
  collectPrefix(pattern, prefix);
  return prefix;
}

/** Appends what the pattern begins with for certain; `false` once it gets variable. */
function collectPrefix(pattern: Pattern, prefix: CharacterSet[]): boolean {
  switch (pattern.kind) {
    case 'character':
      prefix.push(pattern.set);
      return prefix.length < 64;
    case 'group':
      return collectPrefix(pattern.body, prefix);
    case 'sequence':
      return pattern.items.every((item) => collectPrefix(item, prefix));
    case 'repeat': {
      for (let turn = 0; turn < pattern.min; turn++) if (!collectPrefix(pattern.body, prefix)) return false;
      return pattern.min === pattern.max;
    }
    case 'choice': {
      if (!isNullable(pattern)) prefix.push(firstOf(pattern));
      return false;
    }
    case 'reference':
      return false;
    default:
      return true;
  }
}

export function firstOf(pattern: Pattern): CharacterSet {
  switch (pattern.kind) {
    case 'character':
      return pattern.set;
    case 'choice':
      return pattern.options.reduce((set, option) => set | firstOf(option), NO_CHARACTER);
    case 'repeat':
      return pattern.max === 0 ? NO_CHARACTER : firstOf(pattern.body);
    case 'group':
      return firstOf(pattern.body);
    case 'reference':
      return firstOf(pattern.to);
    case 'sequence': {
      let set = NO_CHARACTER;
      for (const item of pattern.items) {
        set |= firstOf(item);
        if (!isNullable(item)) break;
      }
      return set;
    }
    default:
      return NO_CHARACTER;
  }
}

export function isNullable(pattern: Pattern): boolean {
  return minLength(pattern) === 0;
}

function minLength(pattern: Pattern): number {
  switch (pattern.kind) {
    case 'character':
      return 1;
    case 'choice':
      return Math.min(...pattern.options.map(minLength));
    case 'repeat':
      return pattern.min * minLength(pattern.body);
    case 'group':
      return minLength(pattern.body);
    case 'reference':
      return minLength(pattern.to);
    case 'sequence':
      return pattern.items.reduce((sum, item) => sum + minLength(item), 0);
    default:
      return 0;
  }
}

/**
 * The shortest distance at which a URL can offer all literal texts of the pattern over and over, but for the last one,
 * which the worst URL lacks: the longest period among them, since one may lie within another.
 */
export function distanceOfPlaces(pattern: Pattern): number {
  const runs: CharacterSet[][] = [[]];
  collectRuns(pattern, runs);
  return Math.max(1, ...runs.slice(0, -1).map(periodOf));
}

function collectRuns(pattern: Pattern, runs: CharacterSet[][]): void {
  if (pattern.kind === 'character') runs.at(-1)!.push(pattern.set);
  else if (pattern.kind === 'group') collectRuns(pattern.body, runs);
  else if (pattern.kind === 'sequence') for (const item of pattern.items) collectRuns(item, runs);
  else if (pattern.kind !== 'start' && pattern.kind !== 'edge') runs.push([]);
}

/** How far a text must be moved to match itself again: 1 for `aaa`, 5 for `/page/`. */
function periodOf(run: readonly CharacterSet[]): number {
  for (let shift = 1; shift < run.length; shift++) {
    const matchesItself = run.slice(shift).every((set, index) => (set & run[index]!) !== NO_CHARACTER);
    if (matchesItself) return shift;
  }
  return run.length;
}

/** Whether every way to match begins with `^`. */
export function isAnchored(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'start':
      return true;
    case 'choice':
      return pattern.options.every(isAnchored);
    case 'sequence':
      return pattern.items[0] !== undefined && isAnchored(pattern.items[0]);
    case 'group':
      return isAnchored(pattern.body);
    default:
      return false;
  }
}
