/** Paths told apart by their first segment only: a host that has more kinds of pages is learnt as a whole. */
const MAX_SEGMENT = 32;

/**
 * The path pattern that a page is learnt under: `/` for the home page, `/about` for a page at the top, `/items/*` for
 * all pages below a folder. A host part such as `/de/items/5` counts by its first two segments where the first is a
 * language.
 */
export function pagePattern(url: string): string {
  const { pathname } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return '/';
  const isLanguage = /^[a-z]{2}(?:-[a-z]{2})?$/i.test(segments[0] as string);
  const depth = isLanguage && segments.length > 2 ? 2 : 1;
  const shown = segments.slice(0, depth).map((segment) => segment.slice(0, MAX_SEGMENT));
  return segments.length > depth ? `/${shown.join('/')}/*` : '/*';
}
