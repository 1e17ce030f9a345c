/**
 * The crawl's own algorithms that plugins may build on; re-exported by `incrawl/plugin`. One place, grouped by the kind
 * of plugin that they serve.
 */

// Main content, blocks and noise links: parsefilter-*.
export { BlockTable } from '../../../page/block-table.ts';
export { type Classifier, createClassifier } from '../../../page/content/boilerplate.ts';
export { HIDING_STYLE } from '../../../page/content/element-signs.ts';
export { CONTENT_VERSION, createMainContent, type MainContent } from '../../../page/content/main-content.ts';
export { pageBlocks } from '../../../page/content/page-blocks.ts';
export { isFromNoscript, isShellOf } from '../../../page/content/text-source.ts';
export { isHub } from '../../../page/links/hub-pages.ts';
export { type LinkPlace, linkPlaces, PUBLISHED_CUTS, TODAYS_CUTS } from '../../../page/links/link-regions.ts';
export {
  type PageSeries,
  type PageVariant,
  pageSeries,
  pageVariant,
  type SeriesPage,
  variantOfMedia,
} from '../../../page/links/page-series.ts';
// Text and language of a page: parse-*, parsefilter-*.
export { type RobotsDirectives, robotsDirectives } from '../../../page/links/robots-directives.ts';
export { readJsonLd } from '../../../page/metadata/json-ld.ts';
export { declaredLanguage } from '../../../page/metadata/page-language.ts';
// What a page says about itself: parse-*.
export {
  articleBodyText,
  type MetadataPage,
  type PageMetadata,
  pageMetadata,
} from '../../../page/metadata/page-metadata.ts';
export { type StatedField, type Statement, Statements } from '../../../page/metadata/statements.ts';
// Near duplicates: signature-*.
export { hammingDistance } from '../../../page/near/hamming.ts';
export {
  DIMENSION_WEIGHTS,
  DIMENSIONS_VERSION,
  type DimensionWeights,
  pageDimensions,
} from '../../../page/near/page-dimensions.ts';
export { createPageSigner, PAGE_SIGNER_VERSION, type PageSignerOptions } from '../../../page/near/page-signer.ts';
export {
  createShingler,
  SHINGLE_SIZE,
  type Shingler,
  type ShinglerOptions,
  shingles,
  type WeightedShingles,
} from '../../../page/near/shingler.ts';
export { createSimhash, type SimhashOptions, type TextDimension } from '../../../page/near/simhash.ts';
export type { PageNode } from '../../../page/page-node.ts';
export { type PublishedContent, publishedContent } from '../../../page/published/published-blocks.ts';
export { TextMeanings } from '../../../page/tape/interned-texts.ts';
export {
  ATTRIBUTE,
  ATTRIBUTE_NAMES,
  type AttributeName,
  attributeNumber,
  hashed,
  KNOWN_TAGS,
  knownTag,
  lowered,
  NameTable,
  TAG_NAMES,
  TagTable,
  tagNumber,
} from '../../../page/tape/name-table.ts';
export { CLOSE, COMMENT, INSTRUCTION, SECTION, Tape, TEXT, VISIBLE, WIDE } from '../../../page/tape/tape.ts';
export { cutText } from '../../../page/text/cut-text.ts';
export { guessLanguage } from '../../../page/text/guess-language.ts';
export {
  createWordCutter,
  createWordFinder,
  createWordScanner,
  lowerCaseOfAsciiWords,
  type TextCutter,
  type WordCutter,
  type WordFinder,
  type WordList,
  type WordScanner,
  type WordSink,
} from '../../../page/text/word-scan.ts';
export { statedTime, writtenTime } from '../../../page/text/written-time.ts';
// Intervals between visits: schedule-*.
export { type ChangeBelief, SIMHASH64_LIKELIHOOD_RATIOS } from '../../domain/crawl/change/change-belief.ts';
export {
  ADAPTIVE_DEFAULTS,
  type AdaptiveOptions,
  createAdaptiveSchedule,
} from '../../domain/crawl/schedules/adaptive.ts';
export { createFixedSchedule } from '../../domain/crawl/schedules/fixed.ts';
export { createFreshnessSchedule, type FreshnessOptions } from '../../domain/crawl/schedules/freshness.ts';
export {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
  type SimilarityOptions,
} from '../../domain/crawl/schedules/similarity.ts';
// Files, formats and delivery over HTTP: exporter-*.
export { csvRow } from '../../domain/export/csv-row.ts';
export { filePathOf } from '../../domain/export/file-path.ts';
// URLs: urlnormalizer-*, urlfilter-*.
export { type CanonicalUrl, canonicalUrl, MAX_URL_LENGTH } from '../../domain/url/canonical/canonical-url.ts';
export {
  type CertainPlace,
  isMostlyLinks,
  type NoiseReason,
  noiseLinks,
  type PlacedLink,
  publishedNoiseLinks,
} from '../../domain/url/families/noise-links.ts';
export { FeatureFilter, featureNamed, featureSizing, urlSegments } from '../../domain/url/families/url-families.ts';
// Optional packages.
export { type LoadedPackage, type LoadPackage, loadPackage } from '../../packages/load-package.ts';
export {
  addressOf,
  type DeliveryAnswer,
  type DeliveryDeps,
  DeliveryError,
  type DeliveryOptions,
  deliver,
  isPassing,
  pauseMs,
  webhookHeaders,
} from '../exporting/deliver.ts';
export { type FileTree, isFolder, openFileTree } from '../exporting/file-tree.ts';
// Documents that are no HTML: parse-*.
export { type DocumentFacts, DocumentReader } from './document-reader.ts';
export { DocumentWriter } from './document-writer.ts';
export { createStopWords, type StopWords, stopWordsVersion } from './stop-words.ts';
