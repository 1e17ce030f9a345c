import type { CrawlDatum } from '../../crawl/states/datum.ts';
import { murmur3 } from '../hash/murmur3.ts';
import type { RecentPrints } from './recent-prints.ts';

/** Metadata of pages that brought little or nothing beside their links: a {@link Thinness}. */
export const THIN_KEY = 'thin';

/**
 * `link-list`: hardly a word of its own, and many links to its own family, as the pages of a calendar or of a trap that
 * makes up addresses; `little-text`: hardly a word of its own.
 */
export type Thinness = 'link-list' | 'little-text';

/** Characters of content outside links, below which a page has little text. */
export const LITTLE_TEXT = 100;
/** Links to its own family, noise aside, from which such a page is a list of links. */
export const MANY_LINKS = 10;

/** @param ownLinks links to the family of the page, noise aside; asked for pages of little text alone */
export function thinnessOf(ownChars: number | undefined, ownLinks: () => number): Thinness | null {
  if (ownChars === undefined || ownChars >= LITTLE_TEXT) return null;
  return ownLinks() >= MANY_LINKS ? 'link-list' : 'little-text';
}

/**
 * What the first answered visit of a page brought, by its record: 0 nothing that its family did not have, 1 something
 * new; `null` without an answer so far.
 * @param prints those of the visits to its family, to which that of the page is added
 */
export function worthOfVisit(datum: CrawlDatum, prints: RecentPrints): number | null {
  const { lastFetchAt, state, metadata } = datum;
  if (lastFetchAt === null) return null;
  if (state === 'gone' || state === 'duplicate' || metadata[THIN_KEY] === 'link-list') return 0;
  const print = printOf(datum);
  if (print !== null && prints.isNear(print)) return 0;
  return metadata[THIN_KEY] === 'little-text' ? 0.5 : 1;
}

/** 16 hex digits: the text of a page, the bytes of what is none, the target of a redirect. */
function printOf({ state, target, signature, digest }: CrawlDatum): string | null {
  if (state.startsWith('redir')) return target === null ? null : `${hex(murmur3(target))}${hex(murmur3(target, 1))}`;
  return signature ?? digest?.slice(0, 16) ?? null;
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');
