import type { ReadmitSummary } from '../../../crawler.ts';
import { counted } from '../quantities.ts';

/** Result of filtering the links of stored pages again after a change of the URL rules, in a few words. */
export function readmittedText({ pages, newUrls, isCutShort }: ReadmitSummary): string {
  const end = isCutShort ? '; stopped before the last page, starts over next time' : '';
  const filtered = `links of ${counted(pages, 'stored page')} filtered again by the current URL rules`;
  return `${filtered}, ${counted(newUrls, 'new URL')}${end}`;
}
