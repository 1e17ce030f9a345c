/** Versions of a page for other readers than browsers on a large screen, which repeat its text. */
export const PAGE_VARIANTS = ['amp', 'print', 'mobile'] as const;
export type PageVariant = (typeof PAGE_VARIANTS)[number];

const PRINT_MEDIA = /\bprint\b/i;
const MOBILE_MEDIA = /\bhandheld\b|max-(?:device-)?width/i;

/** The version that `link rel=alternate` names by its `media`; `null`: none of these. */
export function variantOfMedia(media: string): PageVariant | null {
  if (PRINT_MEDIA.test(media)) return 'print';
  return MOBILE_MEDIA.test(media) ? 'mobile' : null;
}

const PRINT_ADDRESS =
  /[/?&_.=-](?:print(?:er|able|view|version|page|article|friendly)?|druck(?:en|version|ansicht)?|imprimir|imprimer|stampa)(?:[/?&_.=-]|$)/i;
const MOBILE_HOST = /^https?:\/\/(?:m|mobile|wap|touch)\./i;

/**
 * The version of another page that a page is. It must declare that page as its canonical one; print and mobile versions
 * are then known by their addresses, on the site of the other. `null`: it is a page of its own.
 *
 * @param isAmp whether it is written in AMP (`<html amp>`)
 */
export function pageVariant(url: string, canonical: string | null, isAmp: boolean): PageVariant | null {
  if (canonical === null || canonical === url) return null;
  if (isAmp) return 'amp';
  if (!isOfSameSite(url, canonical)) return null;
  if (PRINT_ADDRESS.test(url) && !PRINT_ADDRESS.test(canonical)) return 'print';
  return MOBILE_HOST.test(url) && !MOBILE_HOST.test(canonical) ? 'mobile' : null;
}

const isOfSameSite = (a: string, b: string): boolean => siteOf(a) === siteOf(b);
const siteOf = (url: string): string =>
  /^https?:\/\/(?:(?:www|m|mobile|wap|touch|print)\.)?([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
