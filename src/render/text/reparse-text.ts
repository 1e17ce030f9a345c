import type { FieldDifference, PageDifference, ReparseSummary, TransferSummary } from '../../crawler/views.ts';
import { count, counted } from '../quantities.ts';
import { safeText } from '../safe-text.ts';
import { fieldLines } from '../table.ts';

/** About records imported into a crawl db that had some. */
export const KNOWN = 'known already: the one visited last is kept';
/** About records imported into an empty crawl db. */
export const SPELLED_OTHERWISE = 'spelled otherwise: merged with the record of the same URL';

/**
 * The rows from an import or a merge, in a few words.
 * @param again the meaning of a record whose URL already exists
 */
export function transferText({ records, links, hosts, merged }: TransferSummary, again: string): string {
  const both = merged === 0 ? '' : ` (${count(merged)} ${again})`;
  return `${counted(records, 'record')}${both}, outlinks of ${counted(links, 'page')}, data of ${counted(hosts, 'host')}`;
}

/** Maximum fields, reasons, and links of a page that are shown to people; `--json` has more. */
const SHOWN_FIELDS = 20;
const SHOWN_REASONS = 8;
const SHOWN_LINKS = 5;
/** Longest message of one page, characters. */
const LONGEST_MESSAGE = 300;

/** Counts first, then examples. */
export function reparseText(summary: ReparseSummary): string {
  const { selected, parsed, isCutShort } = summary;
  if (selected === 0) return 'No page with a content matches.\n';
  const lines = [
    fieldLines([
      ['pages', pagesText(summary)],
      ['parsed anew', `${count(parsed)}${isCutShort ? ', stopped before the last page' : ''}`],
      ...(parsed === 0 ? [] : differenceFields(summary)),
    ]),
    ...failureLines(summary),
    ...summary.examples.flatMap((example) => ['', ...exampleLines(example)]),
    ...noteLines(summary),
  ];
  return `${lines.join('\n')}\n`;
}

function pagesText({ selected, notStored }: ReparseSummary): string {
  return notStored === 0 ? count(selected) : `${count(selected)}, ${count(notStored)} of them not stored any more`;
}

function differenceFields(summary: ReparseSummary): (readonly [string, string])[] {
  const { dryRun, differing, fields, signatures, links, duplicates, missingPages, orphans } = summary;
  const names = Object.entries(fields);
  const more = names.length - SHOWN_FIELDS;
  const { changed, meanDistance } = signatures;
  const compared = Object.hasOwn(fields, 'changeSignature') ? 'changeSignature' : 'signature';
  return [
    [dryRun ? 'would differ' : 'differed', count(differing)],
    ...names.slice(0, SHOWN_FIELDS).map(([name, pages]): [string, string] => {
      const mean = name === compared && changed > 0 ? `, mean distance ${count(meanDistance ?? 0)} bits` : '';
      return [`  ${safeText(name)}`, `${count(pages)}${mean}`];
    }),
    ...(more > 0 ? [['  more fields', `${count(more)} (--json)`] as const] : []),
    ...(links.pages > 0 ? [['  links', linksText(links)] as const] : []),
    ...(duplicates.marked + duplicates.restored > 0
      ? [['duplicates', `${count(duplicates.marked)} more, ${count(duplicates.restored)} no longer`] as const]
      : []),
    ...(missingPages > 0 ? [['soft 404', counted(missingPages, 'host')] as const] : []),
    ...(orphans > 0 ? [['orphans', count(orphans)] as const] : []),
  ];
}

function linksText({ pages, added, removed, newUrls }: ReparseSummary['links']): string {
  const found = newUrls === 0 ? '' : ` (${counted(newUrls, 'new URL')})`;
  return `${count(pages)}; ${counted(added, 'link')} more${found}, ${count(removed)} gone`;
}

function failureLines({ failures }: ReparseSummary): string[] {
  const more = failures.length - SHOWN_REASONS;
  return [
    ...failures.slice(0, SHOWN_REASONS).map(({ code, visits, url, message }) => {
      const detail = message === '' ? '' : ` (${safeText(message.slice(0, LONGEST_MESSAGE))})`;
      return `left as they are: ${count(visits)} ${safeText(code)}, such as ${safeText(url)}${detail}`;
    }),
    ...(more > 0 ? [`left as they are: ${count(more)} more reasons (--json)`] : []),
  ];
}

function exampleLines({ url, fields, linksAdded, linksRemoved }: PageDifference): string[] {
  return [
    safeText(url),
    ...fields.slice(0, SHOWN_FIELDS).map(fieldLine),
    ...linkLines('+', linksAdded),
    ...linkLines('-', linksRemoved),
  ];
}

const fieldLine = ({ field, before, after }: FieldDifference): string =>
  `  ${safeText(field)}: ${valueText(before)} -> ${valueText(after)}`;

const valueText = (value: FieldDifference['before']): string =>
  value === null ? 'none' : typeof value === 'string' ? `"${safeText(value)}"` : String(value);

function linkLines(sign: '+' | '-', urls: readonly string[]): string[] {
  const more = urls.length - SHOWN_LINKS;
  const lines = urls.slice(0, SHOWN_LINKS).map((url) => `  ${sign} ${safeText(url)}`);
  return more > 0 ? [...lines, `  ${sign} ${counted(more, 'more link')}`] : lines;
}

/** What is left to do. */
function noteLines({ dryRun, differing, isCutShort, notStored }: ReparseSummary): string[] {
  const notes: string[] = [];
  if (isCutShort && !dryRun) notes.push('Run it again: it goes on with the pages that are left.');
  if (notStored > 0) notes.push('Pages that are not stored keep their records until they are fetched again.');
  if (differing > 0 && !dryRun) {
    notes.push(
      'The change feed has no entry for them: what "export --since" or a webhook sent before, export in full.',
    );
  }
  return notes.length === 0 ? [] : ['', ...notes];
}
