import { type Command, InvalidArgumentError, Option } from 'commander';
import { DAY_MS } from '../../../core/domain/time.ts';
import type { Crawler, CrawlState } from '../../../crawler/index.ts';
import type { GenerateSummary } from '../../../crawler/views.ts';
import { anyNumber, crawlStates, durationMs, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { nextDueText } from '../../../render/live/round-table.ts';
import { count, counted } from '../../../render/quantities.ts';
import { safeText } from '../../../render/safe-text.ts';
import { badLines } from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { jsonOf, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { wantsSummary, writeText } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

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
  readonly from?: string[];
  readonly filter?: true;
  readonly normalize?: true;
}

/** Options of the selection, which do not apply to a list. */
const OF_SELECTION = [
  ...['topN', 'maxPerHost', 'maxPerDomain', 'minScore', 'minInterval', 'status', 'where', 'addDays', 'budget'],
];

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
    .addOption(
      new Option(
        '--from <file...>',
        'a segment of the URLs in these files, due or not, without injecting them; - for stdin',
      ).conflicts(OF_SELECTION),
    )
    .option('--filter', 'with --from: judge the list by the URL filters')
    .option('--normalize', 'with --from: run the URL normalizers on the list')
    .option('--dry-run', 'print the fetch list; nothing is changed')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl generate --top-n 1000 --max-per-host 50\n  incrawl generate --dry-run --add-days 7\n' +
        '  incrawl generate --where "state = fetched and publishedAt > now-7d"\n' +
        '  incrawl generate --from urls.txt && incrawl fetch --parse && incrawl updatedb\n\n' +
        '"incrawl help query" names the fields and operators of --where.\nExit code 4: nothing is due.',
    );
  command.action((flags: GenerateFlags) =>
    run(command, async (session) => {
      const { minInterval, addDays, from, filter, normalize, ...rest } = flags;
      if (from === undefined && (filter || normalize)) session.refuse('--filter and --normalize go with --from');
      if (from !== undefined) return fromList(session, from, flags);
      const summary = await withCrawlerOrCopy(session, flags.dryRun === true, (crawler) =>
        crawler.generate({
          ...rest,
          ...(minInterval === undefined ? {} : { minIntervalMs: minInterval }),
          ...(addDays === undefined ? {} : { addDaysMs: Math.round(addDays * DAY_MS) }),
        }),
      );
      return answer(session, summary, flags);
    }),
  );
}

async function fromList(session: Session, files: readonly string[], flags: GenerateFlags): Promise<number> {
  const sources = await seedSources(session, files);
  const { filter = false, normalize = false, dryRun = false } = flags;
  const use = (crawler: Crawler) => crawler.generateFromList(sources, { filter, normalize, dryRun });
  const summary = await withCrawlerOrCopy(session, dryRun, use, { mustExist: false });
  const { urls = 0, errors = [] } = summary.list ?? {};
  const say = urls === 0 ? session.complain : session.note;
  for (const line of badLines(errors)) say(line);
  return answer(session, summary, flags);
}

async function answer(session: Session, summary: GenerateSummary, { dryRun }: GenerateFlags): Promise<number> {
  if (wantsSummary(session, dryRun)) {
    if (session.json) await session.out.write(`${jsonOf(summary, dryRun === true)}\n`);
    else await writeText(session, generateText(summary));
  }
  if (summary.list !== undefined && summary.list.urls === 0 && summary.list.errors.length > 0) return EXIT.error;
  return summary.selected === 0 ? EXIT.nothingDue : EXIT.done;
}

function daysLater(text: string): number {
  const days = anyNumber(text);
  if (days >= 0) return days;
  throw new InvalidArgumentError('Expected a number of days, at least 0.');
}

export function generateText(summary: GenerateSummary): string {
  const { list } = summary;
  const rejected = [...Object.entries(summary.rejected), ['in another segment', list?.underWay ?? 0] as const].filter(
    ([, each]) => each > 0,
  );
  const skipped = rejected.map(([reason, each]) => `${reason} ${count(each)}`).join(', ');
  const urlsOf = `${counted(summary.selected, 'URL')} of ${counted(summary.hosts, 'host')}`;
  const does = summary.segment === null ? 'Would select' : `Segment ${summary.segment}:`;
  const what = list === undefined ? 'due' : 'listed';
  const next = summary.next === undefined ? '' : ` ${nextDueText(summary.next)}`;
  const nothing = list === undefined ? `Nothing is due.${next}` : 'No URL of the list is to be fetched.';
  const head = summary.selected === 0 ? nothing : `${does} ${urlsOf}, out of ${count(summary.due)} ${what}.`;
  const urls = (summary.urls ?? []).map((url) => `  ${safeText(url)}`);
  return [head, ...(skipped === '' ? [] : [`Skipped: ${skipped}.`]), ...urls, ''].join('\n');
}
