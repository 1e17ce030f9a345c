import { SKIP_REASONS, type SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import type {
  FailureKind,
  InjectSummary,
  ReadmitSummary,
  RequisitesSummary,
  SeedError,
  SeedsSummary,
} from '../../crawler/views.ts';
import { bytes, count, counted } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

/** Maximum reasons shown to people; `--json` has all. */
const SHOWN = 8;

/** `12 urlfilter-scope: host not in scope`, most frequent first; empty when no URL was filtered out. */
export function rejectionLines(filteredBy: Readonly<Record<string, number>>): string[] {
  const kinds = Object.entries(filteredBy).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const lines = kinds.slice(0, SHOWN).map(([kind, times]) => `${count(times)} ${safeText(kind)}`);
  return kinds.length > SHOWN ? [...lines, `${count(kinds.length - SHOWN)} more reasons (--json)`] : lines;
}

/** Result of filtering the links of stored pages again after a change of the URL rules, in a few words. */
export function readmittedText({ pages, newUrls, isCutShort }: ReadmitSummary): string {
  const end = isCutShort ? '; stopped before the last page, starts over next time' : '';
  const filtered = `links of ${counted(pages, 'stored page')} filtered again by the current URL rules`;
  return `${filtered}, ${counted(newUrls, 'new URL')}${end}`;
}

/** Longest message of one URL or seed, characters. */
const LONGEST_MESSAGE = 300;

/** Bad lines shown to people; `--json` has all. */
const ERRORS_SHOWN = 20;

/** `seeds.txt:3: expected .., got ".."`, a line for each bad line of a list of URLs. */
export function badLines(errors: readonly SeedError[]): string[] {
  const lines = errors
    .slice(0, ERRORS_SHOWN)
    .map(
      ({ source, line, text, message }) =>
        `${safeText(source)}:${line}: ${safeText(message)}, got ${safeText(JSON.stringify(text))}`,
    );
  const more = errors.length - ERRORS_SHOWN;
  return more > 0 ? [...lines, `... and ${count(more)} more bad lines (--json lists all)`] : lines;
}

/** `1 of 1 seeds could not be fetched: connect-failed (..), such as ..; ..`, a line for each reason. */
export function seedLines({ urls, refused, waiting, unchecked, failures }: SeedsSummary): string[] {
  const lines: string[] = [];
  if (refused > 0)
    lines.push(`${count(refused)} of ${count(urls + refused)} seed lines were refused; warnings say why`);
  const checked = count(urls - unchecked);
  for (const { code, status, visits, url, message } of failures) {
    const what = status === null ? code : `${code} ${status}`;
    const detail = message === '' ? '' : ` (${safeText(message.slice(0, LONGEST_MESSAGE))})`;
    lines.push(
      `${count(visits)} of ${checked} seeds could not be fetched: ${safeText(what)}${detail}, such as ` +
        `${safeText(url)}; ${adviceOn(code)}`,
    );
  }
  if (waiting > 0) lines.push(`${count(waiting)} of ${checked} seeds were not visited in this run`);
  return lines;
}

/** `crawl` revisits seeds that were never fetched, so waiting for a pause is no advice. */
function adviceOn(code: string): string {
  const remedy = SKIP_REASONS[code as SkipReason]?.remedy ?? '';
  const again = 'the same command tries again';
  return remedy === '' || remedy.includes('incrawl due retry') ? again : `${again}; what changes it: ${remedy}`;
}

/** The outcome for the seeds, without a line end. */
export function injectText(summary: InjectSummary): string {
  const parts = [
    [summary.injected, summary.partitions === undefined ? 'new' : 'sent'],
    [summary.updated, 'updated'],
    [summary.overwritten, 'overwritten'],
    [summary.kept, 'kept unchanged'],
    [summary.filtered, 'filtered out'],
  ] as const;
  const done = parts.filter(([each]) => each > 0).map(([each, what]) => `${count(each)} ${what}`);
  const lines = summary.urls + summary.errors.length;
  const refused =
    summary.errors.length === 0 ? '' : `\n${count(summary.errors.length)} of ${count(lines)} lines were refused`;
  const kept = rejectionLines(summary.filteredBy).map((line) => `\n  filtered out: ${line}`);
  const result = `${counted(summary.urls, 'URL')}: ${done.length === 0 ? 'nothing to do' : done.join(', ')}`;
  return `${result}${kept.join('')}${refused}`;
}

/**
 * `not fetched: 12 connect-failed, such as http://example.org/ (connect ECONNREFUSED)`, and `not parsed: ..`, most
 * frequent reason first; empty without failures.
 */
export function failureLines(failures: readonly FailureKind[]): string[] {
  return failures.map(({ code, status, visits, url, message }) => {
    const said = status === null ? code : `${code} ${status}`;
    const detail = message === '' ? '' : ` (${safeText(message.slice(0, LONGEST_MESSAGE))})`;
    return `${failedStep(code)}: ${count(visits)} ${safeText(said)}, such as ${safeText(url)}${detail}`;
  });
}

/** The same as one text. */
export const failureText = (failures: readonly FailureKind[]): string =>
  failureLines(failures)
    .map((line) => `${line}\n`)
    .join('');

/** The step that failed, by the code of the failure. */
export const failedStep = (code: string): string => (code.startsWith('parse-') ? 'not parsed' : 'not fetched');

/** One line of what pages need to be shown. */
export function requisitesText(requisites: RequisitesSummary): string {
  const { urls, added, fromBrowser, fetched, unchanged, changed, gone, failed, robotsDenied, bodyBytes } = requisites;
  const counts = [
    [fromBrowser, 'kept from the browser'],
    [added, 'new'],
    [changed, 'changed'],
    [unchanged, 'unchanged'],
    [gone, 'gone'],
    [failed, 'failed'],
    [robotsDenied, 'denied by robots.txt'],
  ] as const;
  const shown = counts.filter(([times]) => times > 0).map(([times, what]) => `${count(times)} ${what}`);
  const details = shown.length === 0 ? '' : `: ${shown.join(', ')}`;
  return `requisites: ${count(urls)} known, ${count(fetched)} fetched (${bytes(bodyBytes)})${details}`;
}
