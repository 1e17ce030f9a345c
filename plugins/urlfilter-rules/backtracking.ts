import { type CharacterSet, NO_CHARACTER } from './character-set.ts';
import type { Pattern } from './pattern.ts';
import { areExclusive, distanceOfPlaces, firstOf, isAnchored, isNullable } from './pattern-facts.ts';

/**
 * Says why a pattern could take too long on some URL, `undefined` if it cannot.
 *
 * A backtracking engine is slow where it has choices that the next character does not decide. So, from the sets of
 * characters that parts can begin with and be followed by:
 * - *inside a repetition* no such choice is allowed: each turn would multiply the ways to match, which makes their
 *   number
 *   exponential. That covers nested quantifiers (`(a+)+`, `(a*)*`, `(aa?)*`) and alternatives that overlap (`(a|ab)*`), but
 *   lets unambiguous ones pass (`(?:/[^/]+)+`, `(?:jpg|png)+`).
 * - *elsewhere* each such repetition multiplies the work by the number of places where it may end. The product, for the
 *   longest URL allowed, must stay below {@link MAX_STEPS}.
 *
 * Cautious: it refuses some harmless patterns (`(?:foo|fo{1,2}t)+`), never lets an exponential one pass.
 */
export function backtrackingFault(pattern: Pattern, maxUrlLength: number): string | undefined {
  try {
    const work = estimate(pattern, { inside: NO_CHARACTER, after: NO_CHARACTER, isRepeated: false });
    const degree = work.degree + (isAnchored(pattern) ? 0 : 1);
    // Places come in order, and lie apart by what has to stand at each: n^d / (distance^(d-1) d!).
    const spread = degree < 2 ? 1 : distanceOfPlaces(pattern) ** (degree - 1) * factorial(degree);
    return (work.factor * maxUrlLength ** degree) / spread > MAX_STEPS ? TOO_MANY_CHOICES : undefined;
  } catch (error) {
    if (error instanceof AmbiguousRepetition) return error.message;
    throw error;
  }
}

/** Steps of the engine, about a fifth of a second. */
const MAX_STEPS = 2e8;

const TOO_MANY_CHOICES =
  'too many repetitions that can end in many places; begin the rule with ^ or a longer literal text, ' +
  'or use [^/]* in place of .*';

/** From this count on a bounded repetition is as bad as an unbounded one. */
const LONG_REPEAT = 10;

class AmbiguousRepetition extends Error {}

interface Follow {
  /** What can come next within the innermost repetition, its next turn included. */
  readonly inside: CharacterSet;
  /** What can come next once all repetitions are left. */
  readonly after: CharacterSet;
  readonly isRepeated: boolean;
}

interface Work {
  /** Long repetitions that can end in many places: what comes behind is tried from each of them. */
  readonly choices: number;
  /** Steps as a power of the length of the URL. A repetition that can end in one place only is run through once. */
  readonly degree: number;
  /** The part of `degree` that lies in look-arounds, which a repetition around them tries anew in each turn. */
  readonly lookDegree: number;
  /** Choices among few, multiplied. */
  readonly factor: number;
}

const NO_WORK: Work = { choices: 0, degree: 0, lookDegree: 0, factor: 1 };

function estimate(pattern: Pattern, follow: Follow): Work {
  switch (pattern.kind) {
    case 'sequence':
      return estimateSequence(pattern.items, follow);
    case 'choice':
      return estimateChoice(pattern.options, follow);
    case 'repeat':
      return estimateRepeat(pattern, follow);
    case 'group':
      return estimate(pattern.body, follow);
    case 'look': {
      const inner = estimate(pattern.body, { inside: NO_CHARACTER, after: NO_CHARACTER, isRepeated: false });
      return { choices: 0, degree: inner.degree, lookDegree: inner.degree, factor: inner.factor };
    }
    default:
      return NO_WORK;
  }
}

function estimateSequence(items: readonly Pattern[], follow: Follow): Work {
  let next = follow;
  let total = NO_WORK;
  for (const item of items.toReversed()) {
    const work = estimate(item, next);
    total = {
      choices: work.choices + total.choices,
      degree: Math.max(work.degree, work.choices + total.degree),
      lookDegree: Math.max(work.lookDegree, total.lookDegree),
      factor: work.factor * total.factor,
    };
    const first = firstOf(item);
    const behind = isNullable(item) ? next : { ...next, inside: NO_CHARACTER, after: NO_CHARACTER };
    next = follow.isRepeated
      ? { ...behind, inside: behind.inside | first }
      : { ...behind, after: behind.after | first };
  }
  return total;
}

function estimateChoice(options: readonly Pattern[], follow: Follow): Work {
  let isAmbiguous = false;
  for (const [index, option] of options.entries()) {
    for (const other of options.slice(index + 1)) isAmbiguous ||= !areExclusive(option, other);
  }
  if (isAmbiguous && follow.isRepeated) {
    throw new AmbiguousRepetition('alternatives inside a repetition that can begin alike, as in (a|ab)*');
  }
  const works = options.map((option) => estimate(option, follow));
  const worst = (of: (work: Work) => number): number => Math.max(...works.map(of));
  return {
    choices: worst(({ choices }) => choices),
    degree: worst(({ degree }) => degree),
    lookDegree: worst(({ lookDegree }) => lookDegree),
    factor: worst(({ factor }) => factor) * (isAmbiguous ? 2 : 1),
  };
}

function estimateRepeat(repeat: Pattern & { kind: 'repeat' }, follow: Follow): Work {
  const { body, min, max } = repeat;
  if (max === 0) return NO_WORK;
  if (max > 1 && isNullable(body)) {
    throw new AmbiguousRepetition('a repetition of something that may be empty, as in (a*)*');
  }
  const first = firstOf(body);
  const isVariable = min !== max;
  if (isVariable && (first & follow.inside) !== NO_CHARACTER) {
    throw new AmbiguousRepetition('a repetition inside a repetition that can end in many places, as in (a+)+');
  }
  const inner = estimate(body, {
    inside: max > 1 ? follow.inside | first : follow.inside,
    after: follow.after,
    isRepeated: follow.isRepeated || max > 1,
  });
  const isAmbiguous = isVariable && (first & follow.after) !== NO_CHARACTER;
  if (max < LONG_REPEAT) return isAmbiguous ? { ...inner, factor: inner.factor * (max - min + 1) } : inner;
  const choices = inner.choices + (isAmbiguous ? 1 : 0);
  const lookDegree = inner.lookDegree > 0 ? inner.lookDegree + 1 : 0;
  return { choices, degree: Math.max(inner.degree, choices, lookDegree, 1), lookDegree, factor: inner.factor };
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
