import type { BlockTable } from '../../../page/block-table.ts';
import { blockPrints } from '../../../page/diff/block-prints.ts';
import { placePrints } from '../../../page/diff/page-places.ts';
import { statedFacts } from '../../../page/metadata/page-metadata.ts';
import { createTextSketcher } from '../../../page/near/page-dimensions.ts';
import { topicAnchors } from '../../../page/published/block-segmenter.ts';
import { cutText } from '../../../page/text/cut-text.ts';
import type { PageMetadataValues } from '../../domain/crawl/states/compare-answer.ts';
import type { ParseOutcome } from '../../domain/crawl/states/outcome.ts';
import { CrawlError } from '../../domain/errors.ts';
import { isUrl, MAX_URL_LENGTH } from '../../domain/url/canonical/canonical-url.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { Outlink, ParsedRecord } from '../../ports/segment-store.ts';
import { type Page, type ParseResult, type Signature, type SignaturePair, signaturePair } from '../api/plugin-api.ts';
import { signatureFault } from '../loading/answer-checks.ts';
import type { LoadedPlugins } from '../loading/load-plugins.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { LivePage, type PageMemory } from './live-page.ts';

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

/** Prefix of a worker's error message when it cannot load its plugins; error codes do not cross threads. */
export const PLUGINS_BROKEN = 'plugins of the parser threads: ';

/** Throws a fault that is not of the page that a worker had: every page would fail in the same way. */
export function throwUnlessOfPage(error: unknown): void {
  if (error instanceof CrawlError && error.consequence === 'stop-crawl') throw error;
  if (textOf(error).startsWith(PLUGINS_BROKEN)) throw new CrawlError('plugin-broken', textOf(error), { cause: error });
}

export interface ParseLimits {
  readonly maxTextChars: number;
  readonly maxOutlinks: number;
  readonly storeText: boolean;
}

/** One for all pages of a thread: it reads each at once. */
const sketchText = createTextSketcher();

const MAX_TITLE_CHARS = 512;
const MAX_ANCHOR_CHARS = 256;
/** Metadata is stored in the crawl db with every page, so it is kept small. */
const MAX_METADATA_CHARS = 4_096;

/** Runs parser, parse filters and signature on a page. Never rejects because of a page or a plugin. */
export async function parsePage(
  page: PageToParse,
  plugins: LoadedPlugins,
  signature: Signature,
  limits: ParseLimits,
  memory?: PageMemory,
): Promise<ParsedRecord> {
  const live = new LivePage(page, memory);
  try {
    return await parsed(page, live, plugins, signature, limits);
  } finally {
    live.release();
  }
}

/**
 * As {@link parsePage}, with the whole result: the record keeps only a part of it. @param look sees the page once all
 * plugins have read it, and not later
 */
export async function parseLive(
  page: PageToParse,
  plugins: LoadedPlugins,
  signature: Signature,
  limits: ParseLimits,
  memory?: PageMemory,
  look?: (page: Page) => void,
): Promise<{ readonly record: ParsedRecord; readonly result: ParseResult }> {
  const live = new LivePage(page, memory);
  const { result } = live;
  try {
    const record = await parsed(page, live, plugins, signature, limits);
    look?.(live);
    // Before its memory is given back.
    result.settle();
    return { record, result };
  } finally {
    live.release();
  }
}

async function parsed(
  page: PageToParse,
  live: LivePage,
  plugins: LoadedPlugins,
  signature: Signature,
  limits: ParseLimits,
): Promise<ParsedRecord> {
  try {
    const parser = plugins.parserFor(live.contentType);
    if (parser === undefined) throw new CrawlError('parse-unsupported', `no parser for ${live.contentType}`);
    await guarded(parser.name, () => parser.extension.parse(live));
    for (const filter of plugins.parseFilters) await guarded(filter.name, () => filter.extension.filter(live));
    return recordOf(page, live, sign(live, signature), nameOf(signature, parser.content, live.result), limits);
  } catch (error) {
    const code = error instanceof CrawlError ? error.code : 'parse-failed';
    return failedRecord(page, live.contentType, code, textOf(error));
  }
}

async function guarded(plugin: string, run: () => void | Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new CrawlError('parse-failed', `${plugin}: ${textOf(error)}`, { cause: error });
  }
}

/**
 * Only signatures of the same algorithm over texts of the same version and source are compared: a page that is a shell
 * at one visit and has its text in the HTML at the next has not changed.
 */
function nameOf({ id }: Signature, content: string, { sources }: ParseResult): string {
  const isStated = sources.mainText?.startsWith('json-ld') === true;
  return `${id}${content === '' ? '' : `+${content}`}${isStated ? '+json-ld' : ''}`;
}

function sign(page: LivePage, signature: Signature): SignaturePair {
  const pair = signaturePair(signature.sign(page));
  const fault = signatureFault(pair);
  if (fault === null) return pair;
  throw new CrawlError('plugin-failed', `signature ${signature.id} ${fault}`);
}

function recordOf(
  page: PageToParse,
  live: LivePage,
  { likeness, change, digest = null }: SignaturePair,
  signatureName: string,
  limits: ParseLimits,
): ParsedRecord {
  const { result, blocks } = live;
  const ownChars = blocks.count === 0 ? undefined : blocks.ownChars;
  const sketch = sketchText(result, ownChars);
  const outcome: ParseOutcome = {
    kind: 'parsed',
    signature: likeness,
    ...(change === likeness || change === null ? {} : { changeSignature: change }),
    ...(digest === null || change === null ? {} : { changeDigest: digest }),
    ...(sketch === null ? {} : { sketch }),
    signatureName,
    title: result.title === null ? null : cutText(withoutNulls(result.title), MAX_TITLE_CHARS),
    textChars: (result.mainText ?? result.text).length,
    stated: statedFacts(result),
    ...(ownChars === undefined ? {} : { blocks: blockPrints(blocks), ownChars }),
    places: placePrints(result, blocks),
    noindex: result.noindex,
    metadata: boundedMetadata({ ...result.metadata, ...ownMetadata(result) }),
  };
  return {
    index: page.index,
    url: page.url,
    outcome,
    contentType: live.contentType,
    charset: live.usedCharset,
    lang: result.lang,
    canonical: result.canonical,
    text: limits.storeText ? cutText(withoutNulls(result.mainText ?? result.text), limits.maxTextChars) : '',
    ...describedIn(result, blocks),
    outlinks: outlinksOf(result, page.url, limits.maxOutlinks),
  };
}

const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_KEYWORDS = 50;

/** What the record of a page keeps as metadata as long as the page says so: {@link PAGE_METADATA}. */
function ownMetadata({ noindex, variant, canonical, pageNumber }: ParseResult): Partial<PageMetadataValues> {
  return {
    ...(noindex && { noindex }),
    ...(variant !== null &&
      canonical !== null &&
      canonical.length <= MAX_URL_LENGTH && { variant, variantOf: canonical }),
    ...(pageNumber !== null && { pageNumber }),
  };
}

/** What segments keep of a page for exports. */
function describedIn(result: ParseResult, blocks: BlockTable): Partial<ParsedRecord> {
  const topics = topicAnchors(blocks);
  const { description, keywords, siteName, image, nextPage, sources } = result;
  return {
    ...(description === null ? {} : { description: cutText(withoutNulls(description), MAX_DESCRIPTION_CHARS) }),
    ...(keywords.length === 0 ? {} : { keywords: keywords.slice(0, MAX_KEYWORDS).map(withoutNulls) }),
    ...(topics.length === 0 ? {} : { topics: topics.map(withoutNulls) }),
    ...(siteName === null ? {} : { siteName: cutText(withoutNulls(siteName), MAX_TITLE_CHARS) }),
    ...(image === null || image.length > MAX_URL_LENGTH ? {} : { image }),
    ...(sources.mainText === undefined ? {} : { textSource: sources.mainText }),
    ...(nextPage === null || nextPage.length > MAX_URL_LENGTH ? {} : { nextPage }),
  };
}

/** Browsers drop NUL characters, and databases and CSV readers refuse them. */
const withoutNulls = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '') : text);

function outlinksOf({ outlinks, nofollow, base }: ParseResult, url: string, max: number): Outlink[] {
  // The entries of a sitemap do not count: its parser has its own limit.
  let left = max;
  const kept = outlinks.length <= max ? outlinks : outlinks.filter(({ rel }) => rel === 'sitemap' || left-- > 0);
  return kept.map((given) => {
    const link = absoluteLink(given, base ?? url);
    if (link.anchor.length <= MAX_ANCHOR_CHARS && (link.nofollow || !nofollow)) return link;
    const anchor = cutText(link.anchor, MAX_ANCHOR_CHARS);
    return { ...link, anchor, nofollow: link.nofollow || nofollow };
  });
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Plugins may give links as the page has them: a relative one is resolved here. */
function absoluteLink(link: Outlink, base: string): Outlink {
  if (SCHEME.test(link.url) || !isUrl(link.url, base)) return link;
  return { ...link, url: new URL(link.url, base).href };
}

function boundedMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, string | number | boolean> {
  const bounded: Record<string, string | number | boolean> = {};
  let chars = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    chars += key.length + String(value).length;
    if (chars > MAX_METADATA_CHARS) break;
    bounded[key] = value;
  }
  return bounded;
}
