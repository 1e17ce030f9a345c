import type { Command } from 'commander';
import { SKIP_REASONS } from '../../../core/domain/crawl/states/skip-reasons.ts';
import type { CrawlState, SkipReason } from '../../../crawler/index.ts';
import type { RetrySummary } from '../../../crawler/views.ts';
import { crawlState, hostName, skipReasons, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { count } from '../../../render/quantities.ts';
import { printedJson, safeText } from '../../../render/safe-text.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import { noMatchText } from '../../program/meant-hosts.ts';
import type { Run } from '../../program/program.ts';
import { noteSent, wantsSummary, writeText } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

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
    .description('Make URLs due at once that failed, were refused or are gone. Their failure counts stay.')
    .option('--status <state>', 'URLs in this state, whatever the outcome of their last visit', crawlState)
    .option('--reason <reasons>', 'URLs whose last visit failed for these reasons, separated by commas', skipReasons)
    .option('--host <host>', 'only URLs of this host (host or host:port)', hostName)
    .option('--limit <n>', 'at most this many URLs', wholeNumber(1))
    .option('--dry-run', 'list the URLs; nothing is changed')
    .addHelpText(
      'after',
      `
Examples:
  incrawl due retry --reason dns-failed,connect-failed --host example.org
  incrawl due retry --status gone --dry-run`,
    );
  command.action((flags: RetryFlags) => run(command, (session) => retry(session, flags)));
}

async function retry(session: Session, { status, reason, host, limit, dryRun = false }: RetryFlags): Promise<number> {
  if (status === undefined && reason === undefined && host === undefined) {
    return session.refuse(
      'expected what to retry: --status STATE, --reason REASONS or --host HOST, such as ' +
        '"incrawl due retry --status gone"; "incrawl due touch URL" makes one URL due, "incrawl due touch --all" all pages',
    );
  }
  const unfit = reason?.find((each) => SKIP_REASONS[each].stage !== 'visited');
  if (unfit !== undefined) {
    return session.refuse(`URLs skipped for ${unfit} were not visited: "incrawl skipped --reason ${unfit}" lists them`);
  }
  const query = {
    dryRun,
    ...(status === undefined ? {} : { state: status }),
    ...(reason === undefined ? {} : { reasons: reason }),
    ...(host === undefined ? {} : { host }),
    ...(limit === undefined ? {} : { limit }),
  };
  const urls: { url: string; reason: SkipReason | null }[] = [];
  const summary = await withCrawlerOrCopy(session, dryRun, (crawler) =>
    crawler.retry(query, (url, why) => {
      if (dryRun) urls.push({ url, reason: why });
    }),
  );
  if (session.json) await session.out.write(`${printedJson({ ...summary, ...(dryRun ? { urls } : {}) })}\n`);
  else if (wantsSummary(session, dryRun || summary.matched === 0)) {
    for (const { url, reason: why } of urls) await writeText(session, `${why ?? '-'}  ${safeText(url)}\n`);
    const text = summary.matched === 0 ? await noMatchText(session, host) : retryText(summary);
    await writeText(session, `${text}\n`);
  }
  noteSent(session, summary);
  return summary.matched === 0 ? EXIT.error : EXIT.done;
}

function retryText({ broughtForward, unmoved, byReason, dryRun }: RetrySummary): string {
  const reasons = Object.entries(byReason).map(([reason, number]) => `${reason} ${count(number)}`);
  const done = `${count(broughtForward)} ${dryRun ? 'would become' : 'made'} due`;
  return `${done}, ${count(unmoved)} due already or in a segment (${reasons.join(', ')}).`;
}
