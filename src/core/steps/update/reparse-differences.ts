import { unpackPlaces } from '../../../page/diff/place-diff.ts';
import { cutText } from '../../../page/text/cut-text.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { changeSignatureOf } from '../../domain/crawl/states/duplicate.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';

/** A field whose value differs, as it is and as a new parse gives it. Long texts are cut around the difference. */
export interface FieldDifference {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

export type FieldValue = string | number | boolean | null;

/** What a new parse of a page would change. */
export interface PageDifference {
  readonly url: string;
  readonly fields: readonly FieldDifference[];
  /** Canonical URLs that pass the URL plugins. */
  readonly linksAdded: readonly string[];
  readonly linksRemoved: readonly string[];
  /** Hamming distance of the signatures, bits; `null` where they do not compare. */
  readonly distance: number | null;
}

/** Characters shown of a long text, and how many of them before the difference. */
const SHOWN = 100;
const LEAD = 20;

/** Fields of the record that differ. */
export function recordDifferences(before: CrawlDatum, after: CrawlDatum): FieldDifference[] {
  const { title, state, signature, changeDigest, sketch, signatureName, textChars } = before;
  const values = { state, title, signature, changeDigest, sketch, signatureName, textChars };
  return [
    ...differing(values, after),
    ...changeSignatureDifference(before, after),
    ...differing(statedValues(before), statedValues(after)),
    ...differing(before.metadata, after.metadata, 'metadata.'),
    ...(isSame(before.blocks, after.blocks) ? [] : [partsDifference(before, after)]),
  ];
}

/**
 * A record without a change signature has one for both purposes: that it is no longer stored apart is no difference.
 */
function changeSignatureDifference(before: CrawlDatum, after: CrawlDatum): FieldDifference[] {
  if (before.changeSignature === null && after.changeSignature === null) return [];
  return differing({ changeSignature: changeSignatureOf(before) }, { changeSignature: changeSignatureOf(after) });
}

/** The language is compared with the parse output. */
const statedValues = ({ stated }: CrawlDatum): Values => ({
  authors: stated?.authors.join(', ') ?? null,
  publishedAt: stated?.publishedAt ?? null,
  modifiedAt: stated?.modifiedAt ?? null,
});

/** By their parts later versions of a page are compared: where it changed, and what always does. */
function partsDifference(before: CrawlDatum, after: CrawlDatum): FieldDifference {
  const [old, young] = [partsOf(before), partsOf(after)];
  return { field: 'parts', before: old, after: old === young ? `${young}, read otherwise` : young };
}

function partsOf({ blocks }: CrawlDatum): number {
  if (blocks === null) return 0;
  const places = blocks.places === null ? null : unpackPlaces(blocks.places);
  return places?.prints.size ?? blocks.blocks.length;
}

/** Parts of the stored parse output that differ and are in no record; `null`: there was none. */
export function outputDifferences(before: ParsedRecord | null, after: ParsedRecord): FieldDifference[] {
  if (before === null) return [{ field: 'output', before: null, after: 'parsed' }];
  const { text, lang, canonical, charset, contentType } = before;
  const values = { text, lang, canonical, charset, contentType };
  return [
    ...differing(values, after),
    ...differing(describedBy(before), describedBy(after)),
    ...(isSame(before.outlinks, after.outlinks) ? [] : [shown('outlinks', linksOf(before), linksOf(after))]),
  ];
}

const describedBy = ({
  description,
  keywords,
  topics,
  siteName,
  image,
  textSource,
  nextPage,
}: ParsedRecord): Values => ({
  description: description ?? null,
  keywords: keywords?.join(', ') ?? null,
  topics: topics?.join(', ') ?? null,
  siteName: siteName ?? null,
  image: image ?? null,
  textSource: textSource ?? null,
  nextPage: nextPage ?? null,
});

/** Links as a segment stores them: with their anchors, and those that filters refuse. */
function linksOf({ outlinks }: ParsedRecord): string {
  const noise = outlinks.filter((link) => link.noise !== undefined).length;
  return noise === 0 ? `${outlinks.length}` : `${outlinks.length}, ${noise} of them noise`;
}

type Values = Readonly<Record<string, unknown>>;

/** The named values that differ, and with a prefix those that only `after` has. */
function differing(before: Values, after: object, prefix = ''): FieldDifference[] {
  const now = after as Values;
  const names = prefix === '' ? Object.keys(before) : [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [old, young] = [fieldValue(before[name]), fieldValue(now[name])];
    return old === young ? [] : [shown(`${prefix}${name}`, old, young)];
  });
}

const fieldValue = (value: unknown): FieldValue => (value ?? null) as FieldValue;

function shown(field: string, before: FieldValue, after: FieldValue): FieldDifference {
  if (typeof before !== 'string' || typeof after !== 'string') {
    return { field, before: excerpt(before, 0), after: excerpt(after, 0) };
  }
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  let from = Math.max(before.length, after.length) <= SHOWN ? 0 : Math.max(0, at - LEAD);
  if (isLowSurrogate(before.charCodeAt(from))) from++;
  return { field, before: excerpt(before, from), after: excerpt(after, from) };
}

function excerpt(value: FieldValue, from: number): FieldValue {
  if (typeof value !== 'string' || (from === 0 && value.length <= SHOWN)) return value;
  const [head, tail] = [from > 0 ? '\u2026' : '', value.length > from + SHOWN ? '\u2026' : ''];
  return `${head}${cutText(value.slice(from), SHOWN)}${tail}`;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Equality of plain data. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame((a as Values)[key], (b as Values)[key]))
  );
}
