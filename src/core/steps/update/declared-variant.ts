import { canonicalOf } from '../../domain/crawl/states/duplicate.ts';
import type { ParseOutcome } from '../../domain/crawl/states/outcome.ts';
import type { LinkDeps } from './found-links.ts';

/**
 * A parse outcome that names the page of which its page is a version as the crawl db spells it. A page is no version of
 * itself, under whatever spelling.
 */
export function spelledVariant(
  { urls, seedHosts }: Pick<LinkDeps, 'urls' | 'seedHosts'>,
  page: { readonly url: string; readonly depth: number },
  outcome: ParseOutcome,
): ParseOutcome {
  const declared = outcome.kind === 'parsed' ? canonicalOf(outcome) : null;
  if (outcome.kind !== 'parsed' || declared === null) return outcome;
  const { url } = urls.apply(declared, { from: page.url, depth: page.depth, seedHosts, scope: 'outlink' });
  if (url === declared) return outcome;
  const { variant, variantOf, ...metadata } = outcome.metadata;
  return { ...outcome, metadata: url === page.url ? metadata : { ...outcome.metadata, variantOf: url ?? declared } };
}
