/** Parts of the crawl's own algorithms that plugins may build on; re-exported by `incrawl/plugin`. */

export { type ChangeBelief, LIKELIHOOD_RATIOS, SIMHASH64_LIKELIHOOD_RATIOS } from '../domain/crawl/change-belief.ts';
export { ADAPTIVE_DEFAULTS, type AdaptiveOptions, createAdaptiveSchedule } from '../domain/crawl/schedules/adaptive.ts';
export { createFixedSchedule } from '../domain/crawl/schedules/fixed.ts';
export {
  createFreshnessSchedule,
  FRESHNESS_DEFAULTS,
  type FreshnessOptions,
} from '../domain/crawl/schedules/freshness.ts';
export {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
  type SimilarityOptions,
} from '../domain/crawl/schedules/similarity.ts';
export { csvRow } from '../domain/csv-row.ts';
export { type Classifier, createClassifier } from '../domain/page/boilerplate.ts';
export { cutText } from '../domain/page/cut-text.ts';
export { guessLanguage } from '../domain/page/guess-language.ts';
export { hammingDistance } from '../domain/page/hamming.ts';
export { type LinkPlace, linkPlaces, linkRatio, PUBLISHED_CUTS, TODAYS_CUTS } from '../domain/page/link-regions.ts';
export { CONTENT_VERSION, createMainContent, type MainContent } from '../domain/page/main-content.ts';
export {
  NOISE_REASONS,
  type NoiseReason,
  noiseLinks,
  type PlacedLink,
  publishedNoiseLinks,
} from '../domain/page/noise-links.ts';
export { pageBlocks } from '../domain/page/page-blocks.ts';
export {
  DIMENSION_WEIGHTS,
  DIMENSIONS_VERSION,
  type DimensionWeights,
  pageDimensions,
} from '../domain/page/page-dimensions.ts';
export type { PageNode } from '../domain/page/page-node.ts';
export { type PublishedContent, publishedContent } from '../domain/page/published-blocks.ts';
export { type RobotsDirectives, robotsDirectives } from '../domain/page/robots-directives.ts';
export { createShingler, SHINGLE_SIZE, type Shingler, type WeightedShingles } from '../domain/page/shingler.ts';
export { resemblance, shingles } from '../domain/page/shingles.ts';
export { createSimhash, type SimhashOptions, type TextDimension } from '../domain/page/simhash.ts';
export { statedTime } from '../domain/page/stated-time.ts';
export { createWordCutter, type WordCutter } from '../domain/page/word-cutter.ts';
export { createWordScanner, type TextCutter, type WordList, type WordScanner } from '../domain/page/word-scan.ts';
export { type CanonicalUrl, canonicalUrl, MAX_URL_LENGTH } from '../domain/url/canonical-url.ts';
export { FeatureFilter } from '../domain/url/feature-filter.ts';
export { filePathOf } from '../domain/url/file-path.ts';
export { SimilarQuota } from '../domain/url/similar-quota.ts';
export { featureNamed, featureSizing, urlSignature } from '../domain/url/url-features.ts';
export {
  addressOf,
  type DeliveryAnswer,
  type DeliveryOptions,
  type DeliveryRoom,
  deliver,
  isPassing,
  pauseMs,
} from './deliver.ts';
export { type FileTree, isFolder, openFileTree } from './file-tree.ts';
export { loadJieba } from './jieba.ts';
export { createStopWords, type StopWords } from './stop-words.ts';
