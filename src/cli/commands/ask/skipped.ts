import type { Command } from 'commander';
import { SKIP_REASONS } from '../../../core/domain/crawl/states/skip-reasons.ts';
import type { SkipReason } from '../../../crawler/index.ts';
import type { SkippedSummary } from '../../../crawler/views.ts';
import { hostName, listFormatOption, moment, skipReasons, wholeNumber } from '../../../query/input/option-values.ts';
import { SKIPPED_COLUMNS, shortTime } from '../../../render/columns.ts';
import { EXIT } from '../../../render/exit.ts';
import type { ListFormat } from '../../../render/listing.ts';
import { count } from '../../../render/quantities.ts';
import { ANY_LENGTH, type TextStyle, table } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeList } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface SkippedFlags {
  readonly reason?: readonly SkipReason[];
  readonly since?: number;
  readonly host?: string;
  readonly url?: string;
  readonly limit?: number;
  readonly counts?: true;
  readonly format?: ListFormat;
}

/** Entries listed without `--since`. */
const NEWEST = 50;

export function addSkipped(program: Command, run: Run): void {
  const command = program
    .command('skipped')
    .description(
      'URLs that were not fetched, with the reason; "incrawl help skips" lists the reasons. ' +
        `Without --since the newest ${NEWEST}.`,
    )
    .option('--reason <reasons>', 'only these reasons, separated by commas', skipReasons)
    .option('--since <when>', 'only entries since then: 2026-03-01, or 2d', moment)
    .option('--host <host>', 'only URLs of this host (host or host:port)', hostName)
    .option('--url <url>', 'only this URL; "incrawl explain" says more, and takes longer')
    .option('--limit <n>', 'at most this many entries', wholeNumber(1))
    .option('--counts', 'the number of URLs by reason, unlisted ones included')
    .addOption(listFormatOption())
    .addHelpText(
      'after',
      `
Examples:
  incrawl skipped --counts
  incrawl skipped --url https://example.org/private/
  incrawl skipped --reason robots-denied --since 1d --format csv > denied.csv`,
    );
  command.action((flags: SkippedFlags) => run(command, (session) => skipped(session, flags), 'when-asked'));
}

async function skipped(session: Session, flags: SkippedFlags): Promise<number> {
  const { skippedSummary, skippedUrls } = await import('../../../operations/reports/skip-report.ts');
  const { requireCrawl } = await import('../../../operations/state/state-folder.ts');
  const { dir } = session.options;
  requireCrawl(dir);
  const { reason, since, host, url, limit, counts, format } = flags;
  if (counts) {
    if (reason !== undefined || host !== undefined || url !== undefined)
      return session.refuse('--counts covers all reasons, hosts and URLs: leave out --reason, --host and --url');
    const summary = await session.withReader((reader) => skippedSummary(dir, since, (urls) => reader.known(urls)));
    await writeAnswer(session, summary, () => countsText(summary, session));
    return EXIT.done;
  }
  const query = {
    ...(reason === undefined ? {} : { reasons: reason }),
    ...(host === undefined ? {} : { host }),
    ...(url === undefined ? {} : { url }),
    ...(since === undefined ? { newest: true, limit: limit ?? NEWEST } : { since }),
    ...(limit === undefined ? {} : { limit }),
  };
  await writeList(session, skippedUrls(dir, query), SKIPPED_COLUMNS, { format, empty: 'No skipped URL matches.' });
  return EXIT.done;
}

function countsText({ counts, cut, from, to }: SkippedSummary, style: TextStyle): string {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (rows.length === 0) return 'No URL was skipped.\n';
  const listed = table(
    [
      { title: 'reason', cell: ([reason]) => reason },
      { title: 'urls', align: 'right', cell: ([, number]) => count(number) },
      {
        title: 'meaning',
        max: ANY_LENGTH,
        rank: 1,
        cell: ([reason]) => SKIP_REASONS[reason as SkipReason]?.text ?? '',
      },
    ],
    rows,
    style,
  );
  const more = cut === 0 ? '' : ` ${count(cut)} are counted but not listed (reports.skippedPerReason).`;
  return `${listed}From ${shortTime(from)} to ${shortTime(to)} UTC.${more}\n`;
}
