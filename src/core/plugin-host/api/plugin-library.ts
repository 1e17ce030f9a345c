/**
 * The crawl's own algorithms that plugins may build on; re-exported by `incrawl/plugin`. One place, grouped by the kind
 * of plugin that they serve.
 */

export { createMainContent, type MainContent } from '../../../page/content/main-content.ts';
// Text and language of a page: parse-*, parsefilter-*.
export { robotsDirectives } from '../../../page/links/robots-directives.ts';
// Near duplicates: signature-*.
export { hammingDistance } from '../../../page/near/fingerprint-tables.ts';
export { DIMENSION_WEIGHTS, pageDimensions } from '../../../page/near/page-dimensions.ts';
export { shingles } from '../../../page/near/shingler.ts';
export { createSimhash } from '../../../page/near/simhash.ts';
export { cutText } from '../../../page/text/cut-text.ts';
export { guessLanguage } from '../../../page/text/language.ts';
export { createWordCutter } from '../../../page/text/word-scan.ts';
export { writtenTime } from '../../../page/text/written-time.ts';
// Files, formats and delivery over HTTP: exporter-*.
export { csvRow, filePathOf } from '../../domain/export/written-files.ts';
// URLs: urlnormalizer-*, urlfilter-*.
export { type CanonicalUrl, canonicalUrl, MAX_URL_LENGTH } from '../../domain/url/canonical/canonical-url.ts';
export { urlSegments } from '../../domain/url/families/url-families.ts';
export { addressOf, deliver, pauseMs } from '../exporting/deliver.ts';
export { type FileTree, isFolder, openFileTree } from '../exporting/file-tree.ts';
// Documents that are no HTML: parse-*.
export { type DocumentFacts, DocumentReader, DocumentWriter } from './documents.ts';
export { createStopWords } from './stop-words.ts';
