// core/domain/crawl/change/: what visits say about how often, and where, a page changes.

import { type BlockPrint, MAX_BLOCK_PRINTS, type SiblingPrint } from '../../../../page/diff/block-prints.ts';
import type { PlacePrint } from '../../../../page/diff/page-places.ts';
import {
  changedPlaces,
  ELSEWHERE,
  MAX_NAMED,
  namedPlaces,
  packPlaces,
  rememberPlaces,
  shortName,
  unpackPlaces,
} from '../../../../page/diff/place-diff.ts';
import { diffSequences } from '../../../../page/diff/word-diff.ts';
import { murmur3 } from '../../../../page/near/hashes.ts';
import { churnAfter, type Finding, VOLATILE_CHURN } from './change-belief.ts';

/** A block of a page at its last visit: all elements of one kind in one container. */
export interface RememberedBlock {
  /** 32-bit hash of its path and of whether it belongs to the main content. */
  readonly key: number;
  /** As {@link BlockPrint.print}; {@link ABSENT}: content that comes and goes was not there. */
  readonly print: number;
  readonly isMain: boolean;
  /** As {@link churnAfter}. */
  readonly churn: number;
  /** Its elements; absent where it was the same at the last visits. */
  readonly siblings?: readonly RememberedSibling[];
}

/** Memory of a page: its blocks, to find those that always change, and its places, to name those that did. */
export interface BlockMemory {
  /** At most {@link MAX_BLOCK_PRINTS}. */
  readonly blocks: readonly RememberedBlock[];
  /** Places that differed at the last visit with another body, as {@link namedPlaces}. */
  readonly changed: readonly string[];
  /** Paths, or `PATH:N` for one element, that differ at most visits and are ignored; at most {@link MAX_NAMED}. */
  readonly volatile: readonly string[];
  /** The places at the last visit with another body, packed. */
  readonly places: string;
  /** Characters of its content. */
  readonly contentChars: number;
  /** Only volatile parts, of the content or around it, differed at the last visit with another body; absent: others. */
  readonly isCalm?: true;
}

/** Most elements of a page that have churn. */
export const MAX_RESTLESS = 16;
/** Volatile parts have at most this share of the content: a growing article is none. */
const MOST_VOLATILE = 0.25;

export interface LearntBlocks {
  readonly memory: BlockMemory;
  /** Only volatile parts of the content changed. */
  readonly isOnlyVolatile: boolean;
  /** Some other part of the content changed. */
  readonly isContentOther: boolean;
}

/** Prints of the parts of a page. */
export interface FoundParts {
  readonly blocks: readonly BlockPrint[];
  readonly places: readonly PlacePrint[];
}

/**
 * The memory after a visit that found another body with these parts; `before` is `null` without a comparable memory.
 */
export function learnBlocks(before: BlockMemory | null, found: FoundParts): LearntBlocks {
  return before === null
    ? { memory: freshMemory(found), isOnlyVolatile: false, isContentOther: false }
    : learn(before, found, true);
}

/**
 * The memory when the body of the last visit was parsed anew: its parts as they are found now, with the churn that they
 * had. No visit happened, so nothing is learnt, and what the last visit found changed stays.
 */
export function rereadBlocks(before: BlockMemory | null, found: FoundParts): BlockMemory {
  if (before === null) return freshMemory(found);
  const { changed, isCalm } = before;
  return { ...learn(before, found, false).memory, changed, ...(isCalm ? { isCalm } : {}) };
}

function freshMemory({ blocks, places }: FoundParts): BlockMemory {
  return {
    blocks: blocks.map((block) => ({ key: keyOf(block), print: block.print, isMain: block.isMain, churn: 0 })),
    changed: [],
    volatile: [],
    places: packPlaces(rememberPlaces(places)),
    contentChars: sizeOf(blocks.filter(({ isMain }) => isMain)),
  };
}

/** A block of this visit beside that of the visit before. */
interface ComparedBlock {
  readonly block: BlockPrint;
  readonly key: number;
  /** `null`: it is new. */
  readonly old: RememberedBlock | null;
  readonly isSame: boolean;
  /** `null`: its elements cannot be compared. */
  readonly siblings: ComparedSiblings | null;
}

interface LearntBlock extends ComparedBlock {
  readonly churn: number;
  readonly isVolatile: boolean;
  readonly learntSiblings: LearntSiblings | null;
}

function learn(before: BlockMemory, { blocks, places: seen }: FoundParts, isVisit: boolean): LearntBlocks {
  const known = new Map(before.blocks.map((block) => [block.key, block]));
  const compared = blocks.map((block) => {
    const key = keyOf(block);
    return compareBlock(block, key, known.get(key) ?? null);
  });
  const content = compared.filter(({ block }) => block.isMain);
  const keys = new Set(compared.map(({ key }) => key));
  const gone = before.blocks.filter(({ key, isMain }) => isMain && !keys.has(key));
  const contentChars = sizeOf(blocks.filter(({ isMain }) => isMain));
  const still = content.reduce((sum, { block, isSame, siblings }) => {
    return sum + (isSame ? block.chars : (siblings?.sameChars ?? 0));
  }, 0);
  const isStill = still >= (1 - MOST_VOLATILE) * Math.max(contentChars, before.contentChars);
  const finding: Finding = { isVisit, isRestStill: isVisit && isStill };
  const most = MOST_VOLATILE * contentChars;
  const learnt = compared.map((each) => learnBlock(each, finding, most));
  const differing = learnt.filter(({ block, isSame }) => block.isMain && !isSame);
  const absent = gone.map((block) => absentBlock(block, finding));
  const leaving = absent.filter((_, i) => gone[i]!.print !== ABSENT);
  const remembered = unpackPlaces(before.places);
  const isDiffering = differing.length + leaving.length > 0;
  const isOnlyVolatile =
    finding.isRestStill &&
    isDiffering &&
    differing.every(isPartVolatile) &&
    leaving.every(({ churn }) => churn >= VOLATILE_CHURN);
  const around = learnt.filter(({ block, isSame }) => !block.isMain && !isSame);
  const isOnlyAround = isVisit && !isDiffering && around.length > 0 && around.every(isPartVolatile);
  return {
    memory: {
      blocks: withAbsent(remember(learnt, finding), absent),
      changed: remembered === null ? [] : namedPlaces(changedPlaces(remembered, seen)),
      volatile: learnt.flatMap(volatileNames).slice(0, MAX_NAMED).map(shortName),
      places: packPlaces(rememberPlaces(seen)),
      contentChars,
      ...(isOnlyVolatile || isOnlyAround ? { isCalm: true } : {}),
    },
    isOnlyVolatile,
    isContentOther: isDiffering && !isOnlyVolatile,
  };
}

function compareBlock(block: BlockPrint, key: number, old: RememberedBlock | null): ComparedBlock {
  const siblings =
    old?.siblings === undefined || block.siblings === undefined ? null : compareSiblings(old.siblings, block.siblings);
  return { block, key, old, isSame: old?.print === block.print, siblings };
}

function learnBlock(compared: ComparedBlock, finding: Finding, mostChars: number): LearntBlock {
  const { block, old, isSame, siblings } = compared;
  const isLarge = block.isMain && block.chars > mostChars;
  // A place that only grows is being written on, and a block that is most of the content is not a part of it.
  const isLearning = isSame || !(isLarge || siblings?.isGrowth || block.path === ELSEWHERE);
  const before = old?.churn ?? 0;
  const churn = isLearning && old !== null ? churnAfter(before, !isSame, finding) : before;
  return {
    ...compared,
    churn,
    isVolatile: churn >= VOLATILE_CHURN && !isLarge,
    learntSiblings: siblings === null ? null : learnSiblings(siblings, finding),
  };
}

const isPartVolatile = ({ isVolatile, learntSiblings }: LearntBlock): boolean =>
  isVolatile || learntSiblings?.isOnlyVolatile === true;

function remember(blocks: readonly LearntBlock[], { isVisit }: Finding): RememberedBlock[] {
  let left = MAX_RESTLESS;
  return blocks.map(({ block, key, old, isSame, churn, learntSiblings }) => {
    const found = isSame || old === null ? [] : freshSiblings(block.siblings ?? []);
    const siblings = withRestless(learntSiblings?.siblings ?? found, left);
    const restless = siblings.filter(isRestless).length;
    left -= restless;
    // Places that stay the same need no memory of each element.
    const isKept = siblings.length > 0 && (!isSame || !isVisit || restless > 0);
    return { key, print: block.print, isMain: block.isMain, churn, ...(isKept ? { siblings } : {}) };
  });
}

/** Content that is not there. */
function absentBlock({ key, print, churn }: RememberedBlock, finding: Finding): RememberedBlock {
  return { key, print: ABSENT, isMain: true, churn: churnAfter(churn, print !== ABSENT, finding) };
}

/** Content first; what is not there takes the place of surroundings. */
function withAbsent(found: readonly RememberedBlock[], absent: readonly RememberedBlock[]): RememberedBlock[] {
  const content = found.filter(({ isMain }) => isMain);
  const around = found.filter(({ isMain }) => !isMain);
  const kept = absent.filter(({ churn }) => churn > 0).sort((a, b) => b.churn - a.churn);
  return [...content, ...kept, ...around].slice(0, MAX_BLOCK_PRINTS);
}

function volatileNames({ block: { path }, isVolatile, learntSiblings }: LearntBlock): string[] {
  return isVolatile ? [path] : (learntSiblings?.volatile ?? []).map((nth) => `${path}:${nth}`);
}

const sizeOf = (blocks: readonly BlockPrint[]): number => blocks.reduce((sum, { chars }) => sum + chars, 0);

/** A block of the content and one of its surroundings may have the same path. */
const keyOf = ({ path, isMain }: BlockPrint): number => murmur3(path, isMain ? 1 : 0);

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
const ABSENT = 0;
export const MAX_CHARS = 0xffff;

/** Siblings of two visits side by side: one that stayed, or all between two that stayed. */
interface Stretch {
  readonly isSame: boolean;
  readonly before: readonly RememberedSibling[];
  readonly found: readonly SiblingPrint[];
}

interface ComparedSiblings {
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
function compareSiblings(before: readonly RememberedSibling[], found: readonly SiblingPrint[]): ComparedSiblings {
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

interface LearntSiblings {
  readonly siblings: readonly RememberedSibling[];
  /** At least one differs, and all that differ are volatile. */
  readonly isOnlyVolatile: boolean;
  /** Numbers of the volatile ones, as in {@link SiblingPrint}. */
  readonly volatile: readonly number[];
}

/** What a visit teaches about each sibling. */
function learnSiblings({ stretches }: ComparedSiblings, finding: Finding): LearntSiblings {
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
    // It is unknown which one is new, so all get churn: one that changes again becomes volatile, the others are soon
    // forgotten.
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

/** Siblings that cannot be told apart have no churn: they may be most of the page. */
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

/** As many as have room, those with the greatest churn. */
const mostRestless = (siblings: readonly RememberedSibling[], count: number): ReadonlySet<RememberedSibling> =>
  new Set(siblings.toSorted((a, b) => b.churn - a.churn).slice(0, count));

/** Siblings that no visit has compared. */
const freshSiblings = (found: readonly SiblingPrint[]): RememberedSibling[] =>
  found.map(([print]) => calmSibling(print));

const calmSibling = (print: number): RememberedSibling => ({ print, churn: 0, chars: 0, isRewritten: false });

const isRestless = ({ churn }: RememberedSibling): boolean => churn > 0;

/** The siblings, with the greatest churns kept; a sibling that is absent and has no churn is left out. */
function withRestless(siblings: readonly RememberedSibling[], most: number): readonly RememberedSibling[] {
  const restless = siblings.filter(isRestless);
  if (restless.length <= most) return siblings;
  const kept = mostRestless(restless, most);
  return siblings
    .map((sibling) => (kept.has(sibling) ? sibling : calmSibling(sibling.print)))
    .filter(({ print, churn }) => print !== ABSENT || churn > 0);
}
