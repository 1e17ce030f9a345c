import { hammingDistance } from '../../domain/page/near/hamming.ts';
import type { createInlinePageParser } from '../../plugin-host/parsing/page-parser.ts';
import type { PageToParse } from '../../ports/page-parser.ts';

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

/** A page as it was loaded. */
type LoadedPage = Pick<PageToParse, 'url' | 'body' | 'contentType' | 'headers'>;
type InlineParser = Awaited<ReturnType<typeof createInlinePageParser>>;

/** One plugin after the other, so that the CPU times are theirs. @param against another version of the page */
export async function signatureViews(
  names: readonly string[],
  parserBy: (signature: string) => Promise<InlineParser>,
  page: LoadedPage,
  against: LoadedPage | null,
): Promise<SignatureView[]> {
  const views: SignatureView[] = [];
  for (const name of names) {
    const parser = await parserBy(name);
    views.push(await signatureView(name, parser, page, against));
    await parser.close();
  }
  return views;
}

async function signatureView(
  name: string,
  parser: InlineParser,
  page: LoadedPage,
  against: LoadedPage | null,
): Promise<SignatureView> {
  const parse = async (each: LoadedPage) => (await parser.live({ index: 0, metadata: {}, ...each })).record.outcome;
  const outcome = await parse(page);
  const { user: from, system } = process.cpuUsage();
  await parse(page);
  const used = process.cpuUsage();
  const cpuMs = Math.round((used.user - from + used.system - system) / 100) / 10;
  if (outcome.kind !== 'parsed') return { name, id: null, signature: null, cpuMs };
  const view = { name, id: outcome.signatureName, signature: outcome.signature };
  if (against === null) return { ...view, cpuMs };
  const other = await parse(against);
  const signature = other.kind === 'parsed' ? other.signature : null;
  const isComparable = outcome.signature !== null && signature !== null;
  const distance = isComparable ? hammingDistance(outcome.signature, signature) : null;
  return { ...view, against: signature, distance, cpuMs };
}
