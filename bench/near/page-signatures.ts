/** Signatures of whole pages through the shipped plugins, of this build or of another one. */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  changeDistance,
  changeSignatureOf,
  isAlikeInLength,
  isCopiedText,
} from '../../src/core/domain/crawl/states/duplicate.ts';
import type { ParseOutcome } from '../../src/core/domain/crawl/states/outcome.ts';
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

/** What makes the signatures: a build and the options of its default signature. */
export interface Signing {
  /** Folder of another build (its `dist`); `null`: this one. */
  readonly build: string | null;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Options of measurements of signatures: `--against DIST`, another build, and `--signature JSON`, other options. */
export const SIGNING = { against: [] as string[], signature: [] as string[] };

/** This build, the others, and this one by other options. */
export const signingsOf = ({
  against,
  signature,
}: Readonly<Record<keyof typeof SIGNING, readonly string[]>>): Signing[] => [
  ...[null, ...against].map((build) => ({ build, options: {} })),
  ...signature.map((options) => ({ build: null, options: JSON.parse(options) as Record<string, unknown> })),
];

/** What stands behind the name of a metric: nothing for this build as shipped. */
export const suffixOf = ({ build, options }: Signing): string =>
  [build === null ? '' : ', before', ...Object.entries(options).map(([key, value]) => `, ${key}: ${value}`)].join('');

type Lists = typeof import('../../src/core/plugin-host/loading/plugin-list.ts');
type Parsers = typeof import('../../src/core/plugin-host/parsing/page-parser.ts');

export async function createSignPage({ build, options }: Signing): Promise<SignPage> {
  const folder = build === null ? resolve(import.meta.dirname, '../..') : resolve(build);
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);
  const { DEFAULT_PLUGIN_LIST } = (await load('src/core/plugin-host/loading/plugin-list.js')) as Lists;
  const { createInlinePageParser } = (await load('src/core/plugin-host/parsing/page-parser.js')) as Parsers;
  const entries = DEFAULT_PLUGIN_LIST.entries.map((entry) =>
    entry.use === 'signature-simhash' ? { ...entry, options } : entry,
  );
  const parser = await inlineParser({ ...DEFAULT_PLUGIN_LIST, entries }, createInlinePageParser);
  return async (html) => {
    const { record } = await parser.live(pageOf(Buffer.from(html)));
    const { outcome } = record;
    if (outcome.kind !== 'parsed') throw new Error(`not parsed: ${html.slice(0, 200)}`);
    return { likeness: outcome.signature ?? '', change: changeSignatureOf(outcome) ?? '', outcome, text: record.text };
  };
}

/** Distance of two versions of a page, as between two visits. Other builds may have no digests. */
export const distanceBetween = (a: SignedPage, b: SignedPage): number =>
  changeDistance(a.outcome, b.outcome) ?? bitsBetween(a.change, b.change);

const MIN_OVERLAP = 0.9;

/** Whether the texts of two pages that are near make one a copy of the other. Other builds may have no sketches. */
export function isCopyOf({ outcome: a }: SignedPage, { outcome: b }: SignedPage, isSameHost: boolean): boolean {
  if (!isAlikeInLength(a.textChars ?? 0, b.textChars ?? 0)) return false;
  if (a.sketch === undefined && b.sketch === undefined) return true;
  return isCopiedText(textOverlap(a.sketch ?? null, b.sketch ?? null), isSameHost, MIN_OVERLAP);
}

/** Bits; all of them where only one page has a signature. */
export function bitsBetween(a: string, b: string): number {
  if (a === '' || b === '') return a === b ? 0 : 64;
  return hammingDistance(a, b);
}
