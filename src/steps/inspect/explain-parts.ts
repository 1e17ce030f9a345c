import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { Truncation } from '../../domain/crawl/states/truncation.ts';
import type { PageVariant } from '../../domain/page/links/page-variant.ts';
import { textOverlap } from '../../domain/page/near/text-sketch.ts';

const TRUNCATED: Readonly<Record<Truncation, string>> = {
  length: 'Its stored copy was cut at http.maxBodyBytes; the rest of the page is not known.',
  disconnect:
    'Its stored copy is a part of the page: the connection or the content coding ended the body too soon at each of ' +
    'several visits in a row. It represents no duplicates, and nothing counts as unchanged by it.',
  unspecified:
    'Its stored copy is a part of the page: several visits in a row were answered with status 206, which no request ' +
    'asks for. It represents no duplicates, and nothing counts as unchanged by it.',
  lost: 'Its stored response was damaged, and "incrawl repair --deep" has taken it out: the next visit fetches it whole.',
};

/** Why the stored copy is not the whole page. */
export const truncationSentences = ({ truncated }: CrawlDatum): string[] =>
  truncated === null ? [] : [TRUNCATED[truncated]];

/** The parts of the page that change. */
export function partSentences({ blocks, visits }: CrawlDatum): string[] {
  if (blocks === null) return [];
  const { changed, volatile } = blocks;
  const sentences: string[] = [];
  if (changed.length > 0) sentences.push(`The last change was in these parts: ${changed.join(', ')}.`);
  else if (visits.at(-1)?.outcome === 'modified') {
    sentences.push('The last change was in no text that was compared: only in links, markup or hidden parts.');
  }
  if (volatile.length > 0) {
    sentences.push(`These parts differ at most visits, so they do not count as a change: ${volatile.join(', ')}.`);
    if (volatile.some((name) => /:\d+$/.test(name))) {
      sentences.push('The number of a part is its place among siblings of the same kind.');
    }
    const last = visits.at(-1);
    if (last?.outcome === 'modified' && last.distance === 0) {
      sentences.push('Nothing else that counts differed at the last visit with another body, so its distance is 0.');
    }
  }
  return sentences;
}

const VARIANT_NAMES: Readonly<Record<PageVariant, string>> = { amp: 'AMP', print: 'print', mobile: 'mobile' };

/** What the page says of its place among others. */
export function seriesSentences({ metadata: { variant, variantOf, pageNumber } }: CrawlDatum): string[] {
  const sentences: string[] = [];
  if (variant !== undefined && variantOf !== undefined) {
    sentences.push(
      `It declares to be the ${VARIANT_NAMES[variant as PageVariant] ?? variant} version of ${variantOf}.`,
    );
  }
  if (pageNumber !== undefined) sentences.push(`It is page ${pageNumber} of a text or list of several pages.`);
  return sentences;
}

/** How much of its text a duplicate shares with its page. */
export function copySentences(page: CrawlDatum, representative: CrawlDatum | undefined): string[] {
  if (page.state !== 'duplicate' || representative === undefined) return [];
  const overlap = textOverlap(page.sketch, representative.sketch);
  if (overlap === null) {
    return [
      'How much of their text is the same is not known: one of them has not been parsed since, or is a list of links.',
    ];
  }
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  return [
    `${percent(overlap.likeness)} of their text is the same, and ${percent(overlap.containment)} of the shorter one is ` +
      'in the longer (estimated from sketches of three-word runs).',
  ];
}
