import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CrawlState, RetrySummary, SkippedSummary, SkipReason } from '../../../crawler.ts';
import { closestName } from '../../../domain/closest-name.ts';
import { SKIP_REASON_NAMES, SKIP_REASONS } from '../../../domain/crawl/states/skip-reasons.ts';
import { EXIT } from '../../exit.ts';
import { asAsked } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { crawlState, hostName, moment, wholeNumber } from '../../program/shared-options.ts';
import { SKIPPED_COLUMNS, shortTime } from '../../render/columns.ts';
import { type ListFormat, writeListing } from '../../render/listing.ts';
import { count } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';
import { table } from '../../render/table.ts';
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

/** Shown when nobody says since when. */
const NEWEST = 50;

export function addSkipped(program: Command, run: Run): void {
  const command = program
    .command('skipped')
    .description(
      `URLs that rounds passed over, and why; "incrawl help skips" lists the reasons. Without --since the newest ${NEWEST}.`,
    )
    .option('--reason <reasons>', 'only these, separated by commas', skipReasons)
    .option('--since <when>', 'only what was reported since then: 2026-03-01, or 2d', moment)
    .option('--host <host>', 'only URLs of this host (host or host:port)', hostName)
    .option('--url <url>', 'only this one; "incrawl explain" tells more, and takes longer')
    .option('--limit <n>', 'entries at most', wholeNumber(1))
    .option('--counts', 'how many there were of each reason, those included that are not listed')
    .addOption(
      new Option('--format <format>', 'of the list; --json prints one JSON array').choices(['table', 'jsonl', 'csv']),
    )
    .addHelpText(
      'after',
      `
Examples:
  incrawl skipped --counts
  incrawl skipped --url https://example.org/private/
  incrawl skipped --reason robots-denied --since 1d --format csv > denied.csv`,
    );
  command.action((flags: SkippedFlags) =>
    run(
      command,
      async (session) => {
        const { skippedSummary, skippedUrls } = await import('../../../operations/loop/skip-report.ts');
        const { dir } = session.options;
        const { reason, since, host, url, limit, counts } = flags;
        if (counts) {
          if (reason !== undefined || host !== undefined || url !== undefined)
            return session.refuse('--counts tells of all reasons, hosts and URLs');
          const summary = await skippedSummary(dir, since);
          await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : countsText(summary, session.bold));
          return EXIT.done;
        }
        const query = {
          ...(reason === undefined ? {} : { reasons: reason }),
          ...(host === undefined ? {} : { host }),
          ...(url === undefined ? {} : { url }),
          ...(since === undefined ? { newest: true, limit: limit ?? NEWEST } : { since }),
          ...(limit === undefined ? {} : { limit }),
        };
        const format = flags.format ?? (session.json ? 'json' : 'table');
        const listing = { format, columns: SKIPPED_COLUMNS, bold: session.bold };
        const written = await writeListing(session.out, skippedUrls(dir, query), listing);
        if (written === 0 && format === 'table') session.note('Nothing is listed.');
        return EXIT.done;
      },
      'when-asked',
    ),
  );
}

function countsText({ counts, cut, from, to }: SkippedSummary, bold: (text: string) => string): string {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (rows.length === 0) return 'Nothing was skipped.\n';
  const listed = table(
    [
      { title: 'reason', cell: ([reason]) => reason },
      { title: 'urls', align: 'right', cell: ([, number]) => count(number) },
      { title: 'meaning', cell: ([reason]) => SKIP_REASONS[reason as SkipReason]?.text ?? '' },
    ],
    rows,
    bold,
  );
  const more = cut === 0 ? '' : ` ${count(cut)} are counted and not listed (reports.skippedPerReason).`;
  return `${listed}From ${shortTime(from)} to ${shortTime(to)} UTC.${more}\n`;
}

interface RetryFlags {
  readonly status?: CrawlState;
  readonly reason?: readonly SkipReason[];
  readonly host?: string;
  readonly limit?: number;
  readonly dryRun?: boolean;
}

export function addRetry(program: Command, run: Run): void {
  const command = program
    .command('retry')
    .description('Make URLs due at once that failed, were refused or are gone. Failures so far still count.')
    .option('--status <state>', 'those in this state, whatever their last visit brought', crawlState)
    .option(
      '--reason <reasons>',
      'those whose last visit brought nothing for these reasons, separated by commas',
      skipReasons,
    )
    .option('--host <host>', 'only URLs of this host (host or host:port)', hostName)
    .option('--limit <n>', 'URLs at most', wholeNumber(1))
    .option('--dry-run', 'tell which, and change nothing')
    .addHelpText(
      'after',
      `
Examples:
  incrawl retry --reason dns-failed,connect-failed --host example.org
  incrawl retry --status gone --dry-run`,
    );
  command.action((flags: RetryFlags) => run(command, (session) => retryUrls(session, flags)));
}

async function retryUrls(
  session: Session,
  { status, reason, host, limit, dryRun = false }: RetryFlags,
): Promise<number> {
  if (status === undefined && reason === undefined && host === undefined) {
    return session.refuse('expected --status, --reason or --host');
  }
  const unfit = reason?.find((each) => SKIP_REASONS[each].stage !== 'visited');
  if (unfit !== undefined) {
    return session.refuse(`${unfit} is no outcome of a visit: "incrawl skipped --reason ${unfit}" lists its URLs`);
  }
  const query = {
    dryRun,
    ...(status === undefined ? {} : { state: status }),
    ...(reason === undefined ? {} : { reasons: reason }),
    ...(host === undefined ? {} : { host }),
    ...(limit === undefined ? {} : { limit }),
  };
  const urls: { url: string; reason: SkipReason | null }[] = [];
  const summary = await asAsked(session, dryRun, (crawler) =>
    crawler.retry(query, (url, why) => {
      if (dryRun) urls.push({ url, reason: why });
    }),
  );
  if (session.json) await session.out.write(`${JSON.stringify({ ...summary, ...(dryRun ? { urls } : {}) })}\n`);
  else {
    for (const { url, reason: why } of urls) await session.out.write(`${why ?? '-'}  ${safeText(url)}\n`);
    await session.out.write(`${retryText(summary)}\n`);
  }
  return summary.matched === 0 ? EXIT.error : EXIT.done;
}

function retryText({ matched, broughtForward, unmoved, byReason, dryRun }: RetrySummary): string {
  if (matched === 0) return 'Nothing matches.';
  const reasons = Object.entries(byReason).map(([reason, number]) => `${reason} ${count(number)}`);
  const done = `${count(broughtForward)} ${dryRun ? 'would be' : 'are'} due at once`;
  return `${done}, ${count(unmoved)} due already or in a segment (${reasons.join(', ')}).`;
}

/** Parser of `--reason`. */
function skipReasons(text: string): SkipReason[] {
  return text.split(',').map((word) => {
    const reason = SKIP_REASON_NAMES.find((each) => each === word.trim());
    if (reason !== undefined) return reason;
    const guess = closestName(word, SKIP_REASON_NAMES);
    const hint = guess === undefined ? 'incrawl help skips lists them.' : `Did you mean ${guess}?`;
    throw new InvalidArgumentError(`Expected reasons such as robots-denied,dns-failed. ${hint}`);
  });
}
