import type { FamilyCounts, UrlFamily } from './family-shares.ts';
import { RecentPrints } from './recent-prints.ts';

/**
 * What is known of the families of like URLs of one host, or what has changed in it. It follows from the records of the
 * host, and saves reading them all again.
 */
export interface HostShares {
  readonly host: string;
  /** 0: all that is known; else its number among the changes since, from 1. */
  readonly part: number;
  /** URLs of the host, and those without a first answer, that the figures account for. */
  readonly urls: number;
  readonly unfetched: number;
  /** A URL of the host with the names of its families: by other names the figures are void. Of part 0 alone. */
  readonly sample: { readonly url: string; readonly families: readonly string[] } | null;
  /** As they are now. */
  readonly families: readonly FamilyCounts[];
  /** The last visits by the name of their family, as `RecentPrints.prints` gives them, the oldest first. */
  readonly prints: readonly { readonly family: string; readonly prints: readonly string[] }[];
  /** Pages with waiting links, by the family that decided. */
  readonly waiting: readonly WaitingOfFamily[];
  /** Names of families, `''` for none, whose pages of before have no waiting links any more. */
  readonly emptied: readonly string[];
  /** Whether there are pages with waiting links beyond those. */
  readonly isCut: boolean;
}

export interface WaitingOfFamily {
  /** `null`: it is not known which. */
  readonly family: UrlFamily | null;
  readonly pages: readonly string[];
}

/** All that is known, from what was and the changes since, in their order. */
export function joinedShares([whole, ...changes]: readonly [HostShares, ...HostShares[]]): HostShares {
  const last = changes.at(-1);
  if (last === undefined) return whole;
  const families = new Map(whole.families.map((family) => [family.name, family]));
  const prints = new Map(whole.prints.map(({ family, prints }) => [family, new RecentPrints(prints)]));
  const waiting = new Map(whole.waiting.map((each) => [nameOf(each), { ...each, pages: new Set(each.pages) }]));
  for (const change of changes) {
    for (const family of change.families) families.set(family.name, family);
    for (const { family, prints: more } of change.prints) {
      prints.set(family, new RecentPrints([...(prints.get(family)?.prints() ?? []), ...more]));
    }
    for (const name of change.emptied) waiting.delete(name);
    for (const { family, pages } of change.waiting) {
      const known = waiting.get(family?.name ?? '') ?? { family, pages: new Set() };
      for (const page of pages) known.pages.add(page);
      waiting.set(family?.name ?? '', known);
    }
  }
  return {
    ...last,
    sample: whole.sample,
    families: [...families.values()],
    prints: Array.from(prints, ([family, each]) => ({ family, prints: each.prints() })),
    waiting: Array.from(waiting.values(), ({ family, pages }) => ({ family, pages: [...pages] })),
    emptied: [],
  };
}

const nameOf = ({ family }: WaitingOfFamily): string => family?.name ?? '';

/** A measure of the space that it takes. */
export const sizeOfShares = ({ families, prints, waiting }: HostShares): number =>
  2 + families.length + prints.length + waiting.reduce((sum, { pages }) => sum + pages.length, 0);
