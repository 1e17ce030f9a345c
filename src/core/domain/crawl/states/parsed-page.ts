import type { PageVariant } from '../../../../page/links/page-series.ts';
import { rereadBlocks } from '../change/block-memory.ts';
import { type ParseSuccess, partsOf } from './compare-answer.ts';
import type { CrawlDatum } from './datum.ts';

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
