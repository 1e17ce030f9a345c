import { type Command, InvalidArgumentError } from 'commander';
import type { CrawlState, GenerateSummary } from '../../../crawler.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { EXIT } from '../../exit.ts';
import { asAsked, jsonOf } from '../../program/dry-run.ts';
import { anyNumber, crawlStates, durationMs, wholeNumber } from '../../program/option-values.ts';
import type { Run } from '../../program/program.ts';
import { wantsSummary, writeText } from '../../program/write-answer.ts';
import { count, counted } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';

interface GenerateFlags {
  readonly topN?: number;
  readonly maxPerHost?: number;
  readonly maxPerDomain?: number;
  readonly minScore?: number;
  readonly minInterval?: number;
  readonly status?: CrawlState[];
  readonly where?: string;
  readonly addDays?: number;
  readonly dryRun?: true;
  readonly budget?: number;
}

export function addGenerate(program: Command, run: Run): void {
  const command = program
    .command('generate')
    .description('Select the due URLs with the highest rank into a new segment.')
    .option('--top-n <n>', 'at most this many URLs (generate.topN)', wholeNumber(1))
    .option('--max-per-host <n>', 'at most this many URLs of a host; 0: no limit', wholeNumber(0))
    .option('--max-per-domain <n>', 'at most this many URLs of a registrable domain; 0: no limit', wholeNumber(0))
    .option('--min-score <score>', 'skip URLs with a lower score', anyNumber)
    .option('--min-interval <duration>', 'skip URLs with a shorter interval', durationMs)
    .option('--status <states>', 'only URLs in these states, separated by commas', crawlStates)
    .option(
      '--where <expr>',
      'only URLs whose record matches, such as "depth < 3 and contentType ~ html" (generate.where)',
    )
    .option('--add-days <days>', 'select as if it were this many days later', daysLater)
    .option(
      '--budget <n>',
      'at most this many fetches in this round, spent where they gain most freshness',
      wholeNumber(1),
    )
    .option('--dry-run', 'print the fetch list; nothing is changed')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl generate --top-n 1000 --max-per-host 50\n  incrawl generate --dry-run --add-days 7\n' +
        '  incrawl generate --where "state = fetched and publishedAt > now-7d"\n\n' +
        '"incrawl help query" names the fields and operators of --where.\nExit code 4: nothing is due.',
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
      if (wantsSummary(session, flags.dryRun)) {
        if (session.json) await session.out.write(`${jsonOf(summary, flags.dryRun === true)}\n`);
        else await writeText(session, generateText(summary));
      }
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
  const skipped = rejected.map(([reason, each]) => `${reason} ${count(each)}`).join(', ');
  const urlsOf = `${counted(summary.selected, 'URL')} of ${counted(summary.hosts, 'host')}`;
  const does = summary.segment === null ? 'Would select' : `Segment ${summary.segment}:`;
  const head = summary.selected === 0 ? 'Nothing is due.' : `${does} ${urlsOf}, out of ${count(summary.due)} due.`;
  const urls = (summary.urls ?? []).map((url) => `  ${safeText(url)}`);
  return [head, ...(skipped === '' ? [] : [`Skipped: ${skipped}.`]), ...urls, ''].join('\n');
}
