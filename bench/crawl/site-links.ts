export interface SiteLinks {
  readonly pages: number;
  /** Links of a page. */
  readonly links: number;
  /** Most links lead to few pages, which are anywhere in the tree; else to all pages alike. */
  readonly isPopular: boolean;
}

/** Targets of the links of a page. A tree of links reaches each page; the rest of the links go anywhere. */
export function linkTargets(page: number, { pages, links, isPopular }: SiteLinks, next: () => number): number[] {
  const targets: number[] = [];
  for (let i = 1; i <= 8; i++) if (8 * page + i < pages) targets.push(8 * page + i);
  while (targets.length < links) targets.push(isPopular ? popular(next(), pages) : Math.floor(next() * pages));
  return targets;
}

/** A prime that does not divide the number of pages spreads the popular ones over the tree. */
const SPREAD = 7_919;

/** The page of a place, by the square of a uniform number: a hundredth of the pages have a tenth of the links. */
const popular = (uniform: number, pages: number): number => (Math.floor(uniform ** 2 * pages) * SPREAD) % pages;
