import type { CrawlDatum } from '../../crawl/states/datum.ts';
import { murmur3 } from '../hash/murmur3.ts';
import type { RecentPrints } from './recent-prints.ts';

/** Metadata of pages that brought little or nothing beside their links: a {@link Thinness}. */
export const THIN_KEY = 'thin';

/**
 * `link-list`: hardly a word of its own, and many links to URLs of its own family beside it, as the pages of a calendar
 * or of a trap that makes up addresses; `index`: the same, but the links lead to other levels, as those of a month of
 * an archive do to its days; `little-text`: hardly a word of its own.
 */
export type Thinness = 'link-list' | 'index' | 'little-text';

/** Characters of content outside links, below which a page has little text. */
export const LITTLE_TEXT = 100;
/**
 * Such a page with fewer characters than this for each link to its own family, noise aside, is a list of links. A name
 * and a date have so many.
 */
const LITTLE_A_LINK = 15;
/** Links from which any page of little text is one: no more have to be counted. */
export const MANY_LINKS = Math.ceil(LITTLE_TEXT / LITTLE_A_LINK);

/** Links of a page to its own family, noise aside, each counted up to {@link MANY_LINKS}. */
export interface OwnLinks {
  /** To URLs of as many directories as its own has. */
  readonly beside: number;
  readonly elsewhere: number;
}

/** @param ownLinks asked for pages of little text alone */
export function thinnessOf(ownChars: number | undefined, ownLinks: () => OwnLinks): Thinness | null {
  if (ownChars === undefined || ownChars >= LITTLE_TEXT) return null;
  const { beside, elsewhere } = ownLinks();
  if (ownChars < LITTLE_A_LINK * beside) return 'link-list';
  return ownChars < LITTLE_A_LINK * (beside + elsewhere) ? 'index' : 'little-text';
}

/**
 * What the first answered visit of a page brought, by its record: 0 nothing that its family did not have, 1 something
 * new; `null` without an answer so far, and of an index, whose worth is that of the pages that it leads to.
 * @param prints those of the visits to its family, to which that of the page is added
 */
export function worthOfVisit(datum: CrawlDatum, prints: RecentPrints): number | null {
  const { lastFetchAt, state, metadata } = datum;
  if (lastFetchAt === null || metadata[THIN_KEY] === 'index') return null;
  if (state === 'gone' || state === 'duplicate' || metadata[THIN_KEY] === 'link-list') return 0;
  const print = printOf(datum);
  if (print !== null && prints.isNear(print, datum.sketch)) return 0;
  return metadata[THIN_KEY] === 'little-text' ? 0.5 : 1;
}

/** 16 hex digits: the text of a page, the bytes of what is none, the target of a redirect. */
function printOf({ state, target, signature, digest }: CrawlDatum): string | null {
  if (state.startsWith('redir')) return target === null ? null : `${hex(murmur3(target))}${hex(murmur3(target, 1))}`;
  return signature ?? digest?.slice(0, 16) ?? null;
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');
