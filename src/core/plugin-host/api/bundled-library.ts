// core/plugin-host/api/: what plugins import (incrawl/plugin, incrawl/bundled, incrawl/plugin-testing).

/**
 * What only bundled plugins build on, `incrawl/bundled`. It promises nothing: names and meanings change with any
 * version. A plugin of your own takes `incrawl/plugin`.
 */

// Main content, blocks and noise links: parsefilter-*.
export { BlockTable } from '../../../page/block-table.ts';
export { type Classifier, createClassifier } from '../../../page/content/boilerplate.ts';
export { HIDING_STYLE } from '../../../page/content/element-signs.ts';
export { isFromNoscript, isShellOf } from '../../../page/content/extent.ts';
export { CONTENT_VERSION } from '../../../page/content/main-content.ts';
export { pageBlocks } from '../../../page/content/page-blocks.ts';
export { isHub, type LinkPlace, linkPlaces, PUBLISHED_CUTS, TODAYS_CUTS } from '../../../page/links/link-regions.ts';
export {
  type PageSeries,
  type PageVariant,
  pageSeries,
  pageVariant,
  type SeriesPage,
  variantOfMedia,
} from '../../../page/links/page-series.ts';
// Text and language of a page: parse-*, parsefilter-*.
export type { RobotsDirectives } from '../../../page/links/robots-directives.ts';
export { readJsonLd } from '../../../page/metadata/json-ld.ts';
// What a page says about itself: parse-*.
export {
  articleBodyText,
  type MetadataPage,
  type PageMetadata,
  pageMetadata,
} from '../../../page/metadata/page-metadata.ts';
export { type StatedField, type Statement, Statements } from '../../../page/metadata/statements.ts';
export { DIMENSIONS_VERSION, type DimensionWeights } from '../../../page/near/page-dimensions.ts';
export { createPageSigner, PAGE_SIGNER_VERSION, type PageSignerOptions } from '../../../page/near/page-signer.ts';
export {
  createShingler,
  SHINGLE_SIZE,
  type Shingler,
  type ShinglerOptions,
  type WeightedShingles,
} from '../../../page/near/shingler.ts';
export type { SimhashOptions, TextDimension } from '../../../page/near/simhash.ts';
export type { PageNode } from '../../../page/page-block.ts';
export { type PublishedContent, publishedContent } from '../../../page/published/block-segmenter.ts';
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
export { declaredLanguage } from '../../../page/text/language.ts';
export {
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
export { statedTime } from '../../../page/text/written-time.ts';
// Intervals between visits: schedule-*.
export { type ChangeBelief, SIMHASH64_LIKELIHOOD_RATIOS } from '../../domain/crawl/change/change-belief.ts';
export { createFreshnessSchedule, type FreshnessOptions } from '../../domain/crawl/schedules/freshness.ts';
export {
  ADAPTIVE_DEFAULTS,
  type AdaptiveOptions,
  createAdaptiveSchedule,
  createFixedSchedule,
} from '../../domain/crawl/schedules/nutch-schedules.ts';
export {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
  type SimilarityOptions,
} from '../../domain/crawl/schedules/similarity.ts';
// Files of pages: exporter-tree.
export { FILE_ENDINGS, fileEndingOf } from '../../domain/export/file-endings.ts';
export {
  type CertainPlace,
  isMostlyLinks,
  type NoiseReason,
  noiseLinks,
  type PlacedLink,
  publishedNoiseLinks,
} from '../../domain/url/families/noise-links.ts';
export { FeatureFilter, featureNamed, featureSizing } from '../../domain/url/families/url-families.ts';
// Optional packages.
export { type LoadedPackage, type LoadPackage, loadPackage } from '../../packages/find-package.ts';
// Exports: exporter-*.
export { addToArchive, openCdxIndex, openCdxLines } from '../exporting/cdx-index.ts';
export {
  type DeliveryAnswer,
  type DeliveryDeps,
  DeliveryError,
  type DeliveryOptions,
  isPassing,
  webhookHeaders,
} from '../exporting/deliver.ts';
export { replaceableFile } from '../exporting/file-tree.ts';
export { inFolder, inStream, type WarcFiles } from '../exporting/warc-files.ts';
export { type StopWords, stopWordsVersion } from './stop-words.ts';
