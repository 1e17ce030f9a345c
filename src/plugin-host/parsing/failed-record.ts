import type { PageToParse } from '../../ports/page-parser.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';

/** The parsed record of a page that could not be parsed. */
export function failedRecord(page: PageToParse, contentType: string, code: string, message: string): ParsedRecord {
  return {
    index: page.index,
    url: page.url,
    outcome: { kind: 'parse-failed', code, message: message.slice(0, 500) },
    contentType,
    charset: null,
    lang: null,
    canonical: null,
    text: '',
    outlinks: [],
  };
}
