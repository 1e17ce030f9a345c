import { type Command, InvalidArgumentError } from 'commander';
import type { CrawlState, GenerateSummary } from '../../../crawler.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { EXIT } from '../../exit.ts';
import { asAsked, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { anyNumber, crawlStates, durationMs, wholeNumber } from '../../program/shared-options.ts';
import { count, counted } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';

interface GenerateFlags {
  readonly topN?: number;
  readonly maxPerHost?: number;
  readonly maxPerDomain?: number;
  readonly minScore?: number;
  readonly minInterval?: number;
  readonly status?: CrawlState[];
  readonly addDays?: number;
  readonly dryRun?: true;
  readonly budget?: number;
}

export function addGenerate(program: Command, run: Run): void {
  const command = program
    .command('generate')
    .description('Select the URLs that are due, best ranked first, and hand them to a new segment.')
    .option('--top-n <n>', 'URLs at most (generate.topN)', wholeNumber(1))
    .option('--max-per-host <n>', 'URLs of one host at most; 0: no limit', wholeNumber(0))
    .option('--max-per-domain <n>', 'URLs of one registrable domain at most; 0: no limit', wholeNumber(0))
    .option('--min-score <score>', 'pass over URLs with a lower score', anyNumber)
    .option('--min-interval <duration>', 'pass over URLs that are visited more often', durationMs)
    .option('--status <states>', 'only URLs in these states, separated by commas', crawlStates)
    .option('--add-days <days>', 'pretend that it is so many days later', daysLater)
    .option('--budget <n>', 'fetches of this round, spent where they win most freshness', wholeNumber(1))
    .option('--dry-run', 'show the fetch list, change nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl generate --top-n 1000 --max-per-host 50\n  incrawl generate --dry-run --add-days 7\n\nExit code 4: nothing is due.',
    );
  command.action((flags: GenerateFlags) =>
    run(command, async (session) => {
      const { minInterval, addDays, ...rest } = flags;
      const summary = await asAsked(session, flags.dryRun === true, (crawler) =>
        crawler.generate({
          ...rest,
          ...(minInterval === undefined ? {} : { minIntervalMs: minInterval }),
          ...(addDays === undefined ? {} : { addDaysMs: Math.round(addDays * DAY_MS) }),
        }),
      );
      await session.out.write(session.json ? `${jsonOf(summary, flags.dryRun === true)}\n` : generateText(summary));
      return summary.selected === 0 ? EXIT.nothingDue : EXIT.done;
    }),
  );
}

function daysLater(text: string): number {
  const days = anyNumber(text);
  if (days >= 0) return days;
  throw new InvalidArgumentError('Expected a number of days, at least 0.');
}

export function generateText(summary: GenerateSummary): string {
  const rejected = Object.entries(summary.rejected).filter(([, each]) => each > 0);
  const passedOver = rejected.map(([reason, each]) => `${reason} ${count(each)}`).join(', ');
  const head =
    summary.selected === 0
      ? 'Nothing is due.'
      : `${summary.segment === null ? 'Would select' : `Segment ${summary.segment}:`} ${counted(summary.selected, 'URL')} of ${counted(summary.hosts, 'host')}, out of ${count(summary.due)} due.`;
  const urls = (summary.urls ?? []).map((url) => `  ${safeText(url)}`);
  return [head, ...(passedOver === '' ? [] : [`Passed over: ${passedOver}.`]), ...urls, ''].join('\n');
}
