/** Signatures of whole pages through the shipped plugins. */
import {
  changeDistance,
  changeSignatureOf,
  isAlikeInLength,
  isCopiedText,
} from '../../src/core/domain/crawl/states/duplicate.ts';
import type { ParseOutcome } from '../../src/core/domain/crawl/states/outcome.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { hammingDistance } from '../../src/page/near/fingerprint-tables.ts';
import { textOverlap } from '../../src/page/near/page-dimensions.ts';
import { inlineParser, pageOf } from '../harness/parser.ts';

export interface SignedPage {
  readonly likeness: string;
  readonly change: string;
  readonly outcome: Extract<ParseOutcome, { kind: 'parsed' }>;
  /** As it is exported. */
  readonly text: string;
}

export type SignPage = (html: string) => Promise<SignedPage>;

/** Options of measurements of signatures: `--signature JSON`, other options of the default signature. */
export const SIGNING = { signature: [] as string[] };

type SignatureOptions = Readonly<Record<string, unknown>>;

/** As shipped, and by the other options. */
export const signingsOf = (signature: readonly string[]): SignatureOptions[] => [
  {},
  ...signature.map((options) => JSON.parse(options) as SignatureOptions),
];

/** What stands behind the name of a metric: nothing for the signature as shipped. */
export const suffixOf = (options: SignatureOptions): string =>
  Object.entries(options)
    .map(([key, value]) => `, ${key}: ${value}`)
    .join('');

export async function createSignPage(options: SignatureOptions): Promise<SignPage> {
  const entries = DEFAULT_PLUGIN_LIST.entries.map((entry) =>
    entry.use === 'signature-simhash' ? { ...entry, options } : entry,
  );
  const parser = await inlineParser({ ...DEFAULT_PLUGIN_LIST, entries });
  return async (html) => {
    const { record } = await parser.live(pageOf(Buffer.from(html)));
    const { outcome } = record;
    if (outcome.kind !== 'parsed') throw new Error(`not parsed: ${html.slice(0, 200)}`);
    return { likeness: outcome.signature ?? '', change: changeSignatureOf(outcome) ?? '', outcome, text: record.text };
  };
}

/** Distance of two versions of a page, as between two visits. */
export const distanceBetween = (a: SignedPage, b: SignedPage): number =>
  changeDistance(a.outcome, b.outcome) ?? bitsBetween(a.change, b.change);

const MIN_OVERLAP = 0.9;

/** Whether the texts of two pages that are near make one a copy of the other. */
export function isCopyOf({ outcome: a }: SignedPage, { outcome: b }: SignedPage, isSameHost: boolean): boolean {
  if (!isAlikeInLength(a.textChars ?? 0, b.textChars ?? 0)) return false;
  return isCopiedText(textOverlap(a.sketch ?? null, b.sketch ?? null), isSameHost, MIN_OVERLAP);
}

/** Bits; all of them where only one page has a signature. */
export function bitsBetween(a: string, b: string): number {
  if (a === '' || b === '') return a === b ? 0 : 64;
  return hammingDistance(a, b);
}
