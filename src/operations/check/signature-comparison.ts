import { hammingDistance } from '../../domain/page/near/hamming.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';

/** What one signature plugin makes of a page, and of another version of it. */
export interface SignatureView {
  /** As `parse.signature` names it. */
  readonly name: string;
  /** Algorithm, version and parameters; `null` for a page that could not be parsed. */
  readonly id: string | null;
  /** 16 hex digits; `null` for a page without words. */
  readonly signature: string | null;
  /** That of the other version, and bits between the two; absent without one. */
  readonly against?: string | null;
  readonly distance?: number | null;
  /** CPU time of parsing and signing the page for the second time, ms. */
  readonly cpuMs: number;
}

/** Parses a page and signs it by one plugin. */
export type ParseBy = (page: PageToParse) => Promise<ParsedRecord>;

export async function signatureView(
  name: string,
  parse: ParseBy,
  page: PageToParse,
  against: PageToParse | null,
): Promise<SignatureView> {
  const { outcome } = await parse(page);
  const { user: from, system } = process.cpuUsage();
  await parse(page);
  const used = process.cpuUsage();
  const spent = Math.round((used.user - from + used.system - system) / 100) / 10;
  if (outcome.kind !== 'parsed') return { name, id: null, signature: null, cpuMs: spent };
  const view = { name, id: outcome.signatureName, signature: outcome.signature };
  if (against === null) return { ...view, cpuMs: spent };
  const other = (await parse(against)).outcome;
  const signature = other.kind === 'parsed' ? other.signature : null;
  const isComparable = outcome.signature !== null && signature !== null;
  const distance = isComparable ? hammingDistance(outcome.signature, signature) : null;
  return { ...view, against: signature, distance, cpuMs: spent };
}
