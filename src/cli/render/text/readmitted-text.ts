import type { RelinkSummary } from '../../../crawler.ts';
import { counted } from '../quantities.ts';

/** What came of the links of the stored pages when the URL rules had changed, in a few words. */
export function relinkedText({ pages, newUrls, isCutShort }: RelinkSummary): string {
  const end = isCutShort ? '; stopped before the last page, begins anew next time' : '';
  return `links of ${counted(pages, 'stored page')} judged by the rules of today, ${counted(newUrls, 'new URL')}${end}`;
}
