import type { SiblingPrint } from '../../../../page/diff/block-prints.ts';
import { diffSequences } from '../../../../page/diff/word-diff.ts';
import { churnAfter, type Finding, VOLATILE_CHURN } from './change-belief.ts';

/** One of the elements of one kind in one container at the last visit, in reading order. */
export interface RememberedSibling {
  /** As in {@link SiblingPrint}; {@link ABSENT}: a part that comes and goes was not there. */
  readonly print: number;
  /** As {@link churnAfter}. */
  readonly churn: number;
  /** Its characters, at most {@link MAX_CHARS}; 0 without churn. */
  readonly chars: number;
  /** Whether it became shorter, or as long, at a change since it has churn. */
  readonly isRewritten: boolean;
}

/** In place of the print of what was not there. */
export const ABSENT = 0;
export const MAX_CHARS = 0xffff;

/** Siblings of two visits side by side: one that stayed, or all between two that stayed. */
interface Stretch {
  readonly isSame: boolean;
  readonly before: readonly RememberedSibling[];
  readonly found: readonly SiblingPrint[];
}

export interface ComparedSiblings {
  readonly stretches: readonly Stretch[];
  /** Characters of those that stayed. */
  readonly sameChars: number;
  /** New ones came, and all others stayed. */
  readonly isGrowth: boolean;
}

/**
 * Siblings of two visits by the longest common sequence of their prints: what stayed says where a changed one stands,
 * wherever the place grew.
 */
export function compareSiblings(
  before: readonly RememberedSibling[],
  found: readonly SiblingPrint[],
): ComparedSiblings {
  const there = before.filter(({ print }) => print !== ABSENT);
  const { deleted, inserted } = diffSequences(
    Int32Array.from(there, ({ print }) => print),
    Int32Array.from(found, ([print]) => print),
  );
  const gone = new Set(there.filter((_, i) => deleted[i] === 1));
  const stretches: Stretch[] = [];
  let sameChars = 0;
  for (let i = 0, j = 0; i < before.length || j < found.length; ) {
    const [fromI, fromJ] = [i, j];
    while (i < before.length && (before[i]!.print === ABSENT || gone.has(before[i]!))) i++;
    while (j < found.length && inserted[j] === 1) j++;
    if (i > fromI || j > fromJ) {
      stretches.push({ isSame: false, before: before.slice(fromI, i), found: found.slice(fromJ, j) });
    }
    if (j === found.length) continue;
    sameChars += found[j]![1];
    stretches.push({ isSame: true, before: [before[i++]!], found: [found[j++]!] });
  }
  return { stretches, sameChars, isGrowth: gone.size === 0 && inserted.includes(1) };
}

export interface LearntSiblings {
  readonly siblings: readonly RememberedSibling[];
  /** At least one differs, and all that differ are volatile. */
  readonly isOnlyVolatile: boolean;
  /** Numbers of the volatile ones, as in {@link SiblingPrint}. */
  readonly volatile: readonly number[];
}

/** What a visit teaches about each sibling. */
export function learnSiblings({ stretches }: ComparedSiblings, finding: Finding): LearntSiblings {
  // Where new ones came as well, one that left may only have moved.
  const hasNew = stretches.some(({ isSame, before, found }) => !isSame && found.length > before.length);
  const movedChurn = hasNew ? Math.max(0, ...stretches.flatMap(leaving).map(({ churn }) => churn)) : 0;
  const learnt = stretches.flatMap((stretch) => learnStretch(stretch, finding, movedChurn));
  const differing = learnt.filter(({ isDifferent }) => isDifferent);
  return {
    siblings: learnt
      .map(({ sibling }) => sibling)
      .filter(({ print, churn }) => print !== ABSENT || (churn > 0 && !hasNew)),
    isOnlyVolatile: differing.length > 0 && differing.every(({ sibling }) => isVolatile(sibling)),
    volatile: learnt.filter(({ nth, sibling }) => nth > 0 && isVolatile(sibling)).map(({ nth }) => nth),
  };
}

/** Those that nothing replaces. */
function leaving({ isSame, before, found }: Stretch): RememberedSibling[] {
  if (isSame || found.length >= before.length) return [];
  const replaced = mostRestless(before, found.length);
  return before.filter((old) => old.print !== ABSENT && !replaced.has(old));
}

/** Text that only ever grew is being written on. */
const isVolatile = ({ churn, isRewritten }: RememberedSibling): boolean => churn >= VOLATILE_CHURN && isRewritten;

interface LearntSibling {
  readonly sibling: RememberedSibling;
  readonly isDifferent: boolean;
  /** Its number; 0: it is not there, or stands for all that are not told apart. */
  readonly nth: number;
}

function learnStretch({ isSame, before, found }: Stretch, finding: Finding, movedChurn: number): LearntSibling[] {
  if (isSame) {
    const { churn, isRewritten } = before[0]!;
    return [learnt(found[0]!, churnAfter(churn, false, finding), isRewritten, false)];
  }
  if (found.length > before.length) {
    // Which one is new cannot be told: of all, one that changes again is volatile, and the others are soon forgotten.
    const churn = Math.min(VOLATILE_CHURN - 1, Math.max(movedChurn, ...before.map((old) => old.churn)));
    return found.map((each) => learnt(each, churn, false, true));
  }
  const replaced = mostRestless(before, found.length);
  let next = 0;
  return before.map((old) => {
    if (replaced.has(old)) {
      const each = found[next++]!;
      const isShorter = old.print === ABSENT || each[1] <= old.chars;
      return learnt(each, churnAfter(old.churn, true, finding), old.isRewritten || isShorter, true);
    }
    const isDifferent = old.print !== ABSENT;
    const churn = churnAfter(old.churn, isDifferent, finding);
    return { sibling: { print: ABSENT, churn, chars: 0, isRewritten: true }, isDifferent, nth: 0 };
  });
}

/** What is not told apart has no churn: it may be most of the page. */
function learnt(
  [print, chars, nth]: SiblingPrint,
  churn: number,
  isRewritten: boolean,
  isDifferent: boolean,
): LearntSibling {
  const isCalm = churn === 0 || nth === 0;
  const sibling = isCalm ? calmSibling(print) : { print, churn, chars: Math.min(MAX_CHARS, chars), isRewritten };
  return { sibling, isDifferent, nth };
}

/** So many of them, those with the greatest churn. */
const mostRestless = (siblings: readonly RememberedSibling[], count: number): ReadonlySet<RememberedSibling> =>
  new Set(siblings.toSorted((a, b) => b.churn - a.churn).slice(0, count));

/** Siblings that no visit has compared. */
export const freshSiblings = (found: readonly SiblingPrint[]): RememberedSibling[] =>
  found.map(([print]) => calmSibling(print));

const calmSibling = (print: number): RememberedSibling => ({ print, churn: 0, chars: 0, isRewritten: false });

export const isRestless = ({ churn }: RememberedSibling): boolean => churn > 0;

/** The siblings with the churn of at most so many of them, the greatest; what is not there and has none is left out. */
export function withRestless(siblings: readonly RememberedSibling[], most: number): readonly RememberedSibling[] {
  const restless = siblings.filter(isRestless);
  if (restless.length <= most) return siblings;
  const kept = mostRestless(restless, most);
  return siblings
    .map((sibling) => (kept.has(sibling) ? sibling : calmSibling(sibling.print)))
    .filter(({ print, churn }) => print !== ABSENT || churn > 0);
}
