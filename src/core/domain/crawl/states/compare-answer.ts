// core/domain/crawl/states/: the crawl datum, its states, and settle, the one transition function.

import type { PageVariant } from '../../../../page/links/page-series.ts';
import { type BlockMemory, type FoundParts, learnBlocks, rereadBlocks } from '../change/block-memory.ts';
import { type HeaderClaims, isReadOtherwise } from '../headers/ladder.ts';
import type { ScheduleVisit } from '../revisit/schedule.ts';
import type { CrawlDatum } from './datum.ts';
import { changeDistance } from './duplicate.ts';
import type { FetchSuccess, ParseOutcome } from './outcome.ts';
import { isPartial } from './truncation.ts';

/** A full answer, with what parsing made of it. */
export interface FullAnswer {
  readonly outcome: FetchSuccess;
  readonly claims: HeaderClaims;
  /** `null` where the page was not parsed, or could not be. */
  readonly parsed: ParseSuccess | null;
  readonly parseFailure: Extract<ParseOutcome, { kind: 'parse-failed' }> | null;
}

export type ParseSuccess = Extract<ParseOutcome, { kind: 'parsed' }>;

/** How an answer differs from the stored copy. */
export interface Comparison extends Pick<ScheduleVisit, 'outcome' | 'evidence'> {
  /** As {@link changeDistance}, to the stored copy; `null` at first, and without signatures to compare. */
  readonly distance: number | null;
  /** As {@link ScheduleVisit.isContentOther}. */
  readonly isContentOther?: boolean;
  /** Memory of the blocks after the visit. */
  readonly blocks: BlockMemory | null;
}

export function fullAnswer(outcome: FetchSuccess, parse: ParseOutcome | null): FullAnswer {
  return {
    outcome,
    claims: { contentType: outcome.contentType, robotsTag: outcome.robotsTag },
    parsed: parse?.kind === 'parsed' ? parse : null,
    parseFailure: parse?.kind === 'parse-failed' ? parse : null,
  };
}

export function compareAnswer(datum: CrawlDatum, { outcome, claims, parsed }: FullAnswer): Comparison {
  const isSame =
    datum.digest === outcome.digest &&
    !isReadOtherwise(datum, { ...(parsed === null ? datum : readAs(datum, parsed)), ...claims });
  if (isSame && !isCut(datum, outcome)) {
    return { outcome: 'unchanged', evidence: 'digest', distance: 0, blocks: datum.blocks };
  }
  if (isSame) return { outcome: 'unchanged', evidence: 'partial', distance: null, blocks: datum.blocks };
  // Signatures and blocks of other rules do not compare, nor do those of a part of a page.
  const isResigned = parsed !== null && datum.signatureName !== null && datum.signatureName !== parsed.signatureName;
  const comparable = isResigned || isCut(datum, outcome) ? null : datum.blocks;
  const learnt = parsed === null ? null : learnBlocks(comparable, partsOf(parsed));
  const blocks = learnt?.memory ?? null;
  if (datum.digest === null) return { outcome: 'new', evidence: 'first', distance: null, blocks };
  if (isCut(datum, outcome)) return { outcome: 'modified', evidence: 'partial', distance: null, blocks };
  const bits = parsed === null ? null : changeDistance(datum, parsed);
  const distance = bits !== null && learnt?.isOnlyVolatile ? 0 : bits;
  const evidence = distance !== null ? 'distance' : isResigned ? 'resigned' : 'digest';
  return { outcome: 'modified', evidence, distance, blocks, isContentOther: learnt?.isContentOther ?? false };
}

/** Whether a body to be compared is a part of a page only: what is missing may be what has changed. */
const isCut = (stored: CrawlDatum, answer: FetchSuccess): boolean =>
  stored.digest !== null && (isPartial(stored.truncated) || isPartial(answer.truncated));

/** What parsing made of the same bytes, in place of what it made of them before. */
const readAs = (datum: CrawlDatum, parsed: ParseSuccess): CrawlDatum => ({
  ...datum,
  signature: parsed.signature,
  changeSignature: parsed.changeSignature ?? null,
  changeDigest: parsed.changeDigest ?? null,
  signatureName: parsed.signatureName,
  title: parsed.title,
});

/** The parts that a page was cut into. */
export const partsOf = ({ blocks = [], places }: ParseSuccess): FoundParts => ({ blocks, places });

/** Fields of a record that parsing fills, beside its blocks. */
export type ParsedFields = Pick<
  CrawlDatum,
  | 'signature'
  | 'changeSignature'
  | 'changeDigest'
  | 'sketch'
  | 'signatureName'
  | 'title'
  | 'textChars'
  | 'stated'
  | 'metadata'
>;

export function parsedFields(metadata: CrawlDatum['metadata'], parsed: ParseSuccess): ParsedFields {
  return {
    signature: parsed.signature,
    changeSignature: parsed.changeSignature ?? null,
    changeDigest: parsed.changeDigest ?? null,
    sketch: parsed.sketch ?? null,
    signatureName: parsed.signatureName,
    title: parsed.title,
    textChars: parsed.textChars,
    stated: parsed.stated,
    metadata: metadataAfter(metadata, parsed),
  };
}

/** Metadata that hold only as long as the page says so. */
export interface PageMetadataValues {
  readonly noindex: true;
  /** The version of another page that it is, and that page. */
  readonly variant: PageVariant;
  readonly variantOf: string;
  /** Its number in a series of pages, from 1. */
  readonly pageNumber: number;
}

function metadataAfter(metadata: CrawlDatum['metadata'], parsed: ParseSuccess): CrawlDatum['metadata'] {
  const { noindex, variant, variantOf, pageNumber, ...kept } = metadata;
  return { ...kept, ...parsed.metadata };
}

/** An earlier parse of the same body. */
export interface FormerParse {
  readonly parsed: ParseSuccess;
  /** Metadata that the page had before. */
  readonly given: CrawlDatum['metadata'];
}

/**
 * The record when its stored body was parsed anew. All that parsing fills is replaced, as the next visit compares the
 * page with it; what only a visit can show (visits, belief, due time, times of change) stays.
 * @param former metadata that it gave and `parsed` no longer gives is removed; `null`: none is
 */
export function reparsed(datum: CrawlDatum, parsed: ParseSuccess, former: FormerParse | null): CrawlDatum {
  const isResigned = datum.signatureName !== parsed.signatureName;
  const blocks = rereadBlocks(isResigned ? null : datum.blocks, partsOf(parsed));
  const fields = { ...parsedFields(withoutFormer(datum, former), parsed), blocks };
  if (datum.state !== 'parse_failed') return { ...datum, ...fields };
  // An error of a later visit is not that of parsing.
  return { ...datum, ...fields, state: 'fetched', lastError: datum.failures > 0 ? datum.lastError : null };
}

/** A seed keeps what it had before, which may be the operator's. */
function withoutFormer({ metadata, seed }: CrawlDatum, former: FormerParse | null): CrawlDatum['metadata'] {
  if (former === null) return metadata;
  const { parsed, given } = former;
  const isKept = ([key, value]: [string, unknown]): boolean =>
    parsed.metadata[key] !== value || (seed && Object.hasOwn(given, key));
  return Object.fromEntries(Object.entries(metadata).filter(isKept));
}
