import type { RelinkSummary } from '../../crawler.ts';
import { count } from './quantities.ts';

/** What came of the links of the stored pages when the URL rules had changed, in a few words. */
export function relinkedText({ pages, newUrls, isCutShort }: RelinkSummary): string {
  const end = isCutShort ? '; stopped before the last page, begins anew next time' : '';
  return `links of ${count(pages)} stored pages judged by the rules of today, ${count(newUrls)} new URLs${end}`;
}
