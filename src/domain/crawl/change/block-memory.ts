// domain/crawl/change/: what visits say about how often, and where, a page changes.
import type { BlockPrint } from '../../page/diff/block-prints.ts';
import { changedPlaces, MAX_NAMED, namedPlaces, rememberPlaces, shortName } from '../../page/diff/changed-places.ts';
import { packPlaces, unpackPlaces } from '../../page/diff/packed-places.ts';
import type { PlacePrint } from '../../page/diff/page-places.ts';
import { murmur3 } from '../../url/hash/murmur3.ts';

/** A block of a page at its last visit. */
export interface RememberedBlock {
  /** 32-bit hash of its path and of whether it belongs to the main content. */
  readonly key: number;
  /** As {@link BlockPrint.print}. */
  readonly print: number;
  readonly isMain: boolean;
  /** Visits that found it changed while the rest stayed, less those that found it unchanged; 0 to {@link MAX_CHURN}. */
  readonly churn: number;
}

/** Memory of a page: its blocks, to find those that always change, and its places, to name those that did. */
export interface BlockMemory {
  readonly blocks: readonly RememberedBlock[];
  /** Places that differed at the last visit with another body, as {@link namedPlaces}. */
  readonly changed: readonly string[];
  /** Paths that differ at most visits and are ignored; at most {@link MAX_NAMED}. */
  readonly volatile: readonly string[];
  /** The places at the last visit with another body, packed; `null` where none were kept, as in older versions. */
  readonly places: string | null;
}

export const MAX_CHURN = 15;
/** A block is volatile when it changed alone so many times more often than it stayed. */
const VOLATILE_CHURN = 3;
/** A volatile block has at most this share of the content: a growing article is none. */
const MOST_VOLATILE = 0.25;

export interface LearntBlocks {
  readonly memory: BlockMemory;
  /** Only volatile blocks of the content changed. */
  readonly isOnlyVolatile: boolean;
}

/** Prints of the parts of a page; `places` is absent in segments of older versions. */
export interface FoundParts {
  readonly blocks: readonly BlockPrint[];
  readonly places?: readonly PlacePrint[] | undefined;
}

/**
 * The memory after a visit that found another body with these parts; `before` is `null` without a comparable memory.
 */
export function learnBlocks(before: BlockMemory | null, { blocks: found, places: seen }: FoundParts): LearntBlocks {
  const known = new Map(before?.blocks.map((block) => [block.key, block]));
  const blocks = found.map((block) => ({ ...block, key: keyOf(block), old: known.get(keyOf(block)) }));
  const places = seen === undefined ? null : packPlaces(rememberPlaces(seen));
  if (before === null) {
    return { memory: { blocks: blocks.map(fresh), changed: [], volatile: [], places }, isOnlyVolatile: false };
  }
  const differs = blocks.filter(({ print, old }) => old !== undefined && old.print !== print);
  const added = blocks.filter(({ old }) => old === undefined);
  const content = blocks.filter(({ isMain }) => isMain);
  const size = (some: readonly BlockPrint[]): number => some.reduce((sum, { chars }) => sum + chars, 0);
  const changedContent = differs.filter(({ isMain }) => isMain);
  const keys = new Set(blocks.map(({ key }) => key));
  const isContentThere =
    !added.some(({ isMain }) => isMain) && before.blocks.every(({ key, isMain }) => !isMain || keys.has(key));
  const isRestStill = isContentThere && size(changedContent) <= MOST_VOLATILE * size(content);
  const learnt = blocks.map((block) => ({ ...block, churn: churnAfter(block, isRestStill) }));
  const isVolatile = ({ churn, isMain, chars }: (typeof learnt)[number]): boolean =>
    churn >= VOLATILE_CHURN && (!isMain || chars <= MOST_VOLATILE * size(content));
  const volatile = learnt.filter(isVolatile);
  const remembered = before.places === null ? null : unpackPlaces(before.places);
  return {
    memory: {
      blocks: learnt.map(({ key, print, isMain, churn }) => ({ key, print, isMain, churn })),
      changed: remembered === null || seen === undefined ? [] : namedPlaces(changedPlaces(remembered, seen)),
      volatile: volatile.slice(0, MAX_NAMED).map(({ path }) => shortName(path)),
      places,
    },
    isOnlyVolatile:
      isRestStill &&
      changedContent.length > 0 &&
      changedContent.every(({ key }) => volatile.some((block) => block.key === key)),
  };
}

const fresh = ({ key, print, isMain }: Omit<RememberedBlock, 'churn'>): RememberedBlock => ({
  key,
  print,
  isMain,
  churn: 0,
});

function churnAfter(
  { print, old }: { readonly print: number; readonly old: RememberedBlock | undefined },
  isRestStill: boolean,
): number {
  if (old === undefined) return 0;
  if (old.print === print) return Math.max(0, old.churn - 1);
  return isRestStill ? Math.min(MAX_CHURN, old.churn + 1) : old.churn;
}

/** A block of the content and one of its surroundings may have the same path. */
const keyOf = ({ path, isMain }: BlockPrint): number => murmur3(path, isMain ? 1 : 0);
