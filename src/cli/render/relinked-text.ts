import type { RelinkSummary } from '../../crawler.ts';
import { count } from './quantities.ts';

/** What came of the links of the stored pages, in a few words. */
export function relinkedText({ pages, newUrls, isCutShort }: RelinkSummary): string {
  const end = isCutShort ? '; stopped before the last page, begins anew next time' : '';
  return `the URL rules may let in more than before: links of ${count(pages)} stored pages judged again, ${count(newUrls)} new URLs${end}`;
}
