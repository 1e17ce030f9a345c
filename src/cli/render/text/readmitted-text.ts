import type { ReadmitSummary } from '../../../crawler.ts';
import { counted } from '../quantities.ts';

/** What came of the links of the stored pages when the URL rules had changed, in a few words. */
export function readmittedText({ pages, newUrls, isCutShort }: ReadmitSummary): string {
  const end = isCutShort ? '; stopped before the last page, begins anew next time' : '';
  return `links of ${counted(pages, 'stored page')} judged by the rules of today, ${counted(newUrls, 'new URL')}${end}`;
}
