import { DEFAULT_LIMITS, readXmlDocument } from '../../../plugins/parse-feed/xml-document.ts';

/** A feed as the crawler itself reads those of others. */
export const readAsCrawler = (document: string) => readXmlDocument(document, undefined, DEFAULT_LIMITS);
