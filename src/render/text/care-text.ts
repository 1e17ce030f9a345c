import { FINDINGS, type FindingKind } from '../../core/domain/findings.ts';
import type { BackupSummary, RepairSummary, VerifySummary } from '../../crawler/index.ts';
import type { ClockRepairSummary } from '../../crawler/views.ts';
import { bytes, count, counted, span } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

type Bold = (text: string) => string;

export function verifyText(summary: VerifySummary, bold: Bold): string {
  const checked = checkedText(summary);
  if (summary.sound) return `Sound: ${checked}.\n`;
  const lines = [`Checked ${checked}.`, ''];
  for (const [kind, found] of Object.entries(summary.byKind)) {
    const { text, repair } = FINDINGS[kind as FindingKind];
    lines.push(`${bold(`${kind} (${count(found)})`)}  ${text}`);
    const shown = summary.findings.filter((finding) => finding.kind === kind);
    for (const { subject, detail, partition } of shown.slice(0, 5)) {
      const where = partition === undefined ? '' : `${partition} `;
      lines.push(`    ${where}${safeText(subject)}: ${safeText(detail)}`);
    }
    if (found > 5) lines.push(`    and ${count(found - 5)} more`);
    lines.push(`    "incrawl state repair" ${repair}.`);
  }
  return `${lines.join('\n')}\n`;
}

function checkedText({ rows, segments, requisites }: VerifySummary): string {
  const pages = partText({ rows, segments });
  return requisites === null ? pages : `${pages}; of requisites: ${partText(requisites)}`;
}

function partText({ rows, segments }: Pick<VerifySummary, 'rows' | 'segments'>): string {
  if (rows === null) return counted(segments, 'segment');
  return (
    `${counted(rows.records, 'record')}, ${count(rows.due)} due ${rows.due === 1 ? 'entry' : 'entries'}, ${counted(rows.leases, 'lease')}, ` +
    `${counted(rows.links, 'page')} with outlinks, ${counted(rows.hosts, 'host')}, ${counted(rows.changes, 'change')}, ` +
    `${counted(segments, 'segment')}`
  );
}

/** The summary of a backup, a check or a restore; `done` says which. */
export function backupText(summary: BackupSummary, done: string): string {
  const { dir, rows, requisiteRows, files, bytes: size, createdAt } = summary;
  const requisites = requisiteRows === null ? '' : `, ${counted(requisiteRows, 'row')} of that of requisites`;
  const content = `${counted(rows, 'row')} of the crawl db${requisites}, ${counted(files, 'file')} with ${bytes(size)}`;
  return `${done} ${dir}: ${content}, as of ${createdAt}.\n`;
}

export function clockText({ aheadMs, dryRun, ...counts }: ClockRepairSummary): string {
  if (aheadMs === 0) return 'No time lies ahead of the clock of this machine.\n';
  const { records, beliefs, hosts, changes, segments, facts } = counts;
  const rows = [
    counted(records, 'record'),
    counted(hosts, 'host'),
    counted(changes, 'change'),
    counted(segments, 'segment'),
    counted(facts, 'fact'),
  ];
  const lost =
    beliefs === 0 ? '' : `${counted(beliefs, 'page')} will be observed anew: visits seemed to lie far apart.\n`;
  const done = dryRun ? 'These would be set to now' : 'Set to now';
  return `The newest time lies ${span(aheadMs / 1_000)} ahead. ${done}: ${rows.join(', ')}.\n${lost}`;
}

export function repairText(summary: RepairSummary, bold: Bold): string {
  const { found, records, quarantinedRows, leasesEnded, segments } = summary;
  const kinds = Object.entries(found);
  const lines = [
    kinds.length === 0
      ? 'Nothing was wrong; the indexes were rebuilt anyway.'
      : `Found: ${kinds.map(([kind, times]) => `${kind} ${count(times)}`).join(', ')}.`,
  ];
  if (summary.rebuilt) lines.push('LevelDB rebuilt its own files.');
  if (records !== null) lines.push(`${counted(records, 'record')}; due index, counters and leases rebuilt.`);
  if (leasesEnded > 0) lines.push(`${counted(leasesEnded, 'lease')} ended; their URLs are due again.`);
  for (const { id, pagesLost } of segments) {
    lines.push(
      pagesLost === null
        ? `Segment ${id}: moved to the quarantine; its URLs are due again.`
        : `Segment ${id}: rewritten without ${count(pagesLost)} damaged pages.`,
    );
  }
  if (summary.pagesDue > 0) lines.push(`${counted(summary.pagesDue, 'page')} whose content is lost: due now.`);
  if (quarantinedRows > 0 || summary.rebuilt || segments.length > 0) {
    if (quarantinedRows > 0) lines.push(`${counted(quarantinedRows, 'row')} removed from the crawl db.`);
    lines.push(`Removed data is kept in ${summary.quarantine}`);
  }
  lines.push(summary.left.sound ? 'Sound now.' : bold('Still wrong:'));
  return `${lines.join('\n')}\n${summary.left.sound ? '' : verifyText(summary.left, bold)}`;
}
