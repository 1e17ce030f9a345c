import { type Command, Option } from 'commander';
import { isForPartitions, isSpread } from '../../../operations/state/cluster-mark.ts';
import { EXIT } from '../../../render/exit.ts';
import { badLines, injectText } from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { noteSent, writeSummary } from '../../program/write-answer.ts';

interface InjectOptions {
  readonly mode?: 'keep' | 'update' | 'overwrite';
  readonly update?: true;
  readonly overwrite?: true;
  readonly dryRun?: true;
}

export function addInject(program: Command, run: Run): void {
  const command = program
    .command('inject')
    .argument('<seed...>', 'files of URLs, folders of such files, URLs, or - for stdin')
    .description('Add seeds to the crawl db. One URL per line; "#" begins a comment; metadata follows after tabs.')
    .addOption(new Option('--mode <mode>', 'what happens to known URLs').choices(['keep', 'update', 'overwrite']))
    .addOption(
      new Option('--update', 'short for --mode update: set score, interval and metadata').conflicts([
        'mode',
        'overwrite',
      ]),
    )
    .addOption(
      new Option('--overwrite', 'short for --mode overwrite: replace the record; its history is lost').conflicts([
        'mode',
        'update',
      ]),
    )
    .option('--dry-run', DRY_RUN)
    .addHelpText(
      'after',
      `
Examples:
  incrawl inject seeds/example.txt
  incrawl inject seeds --overwrite --dry-run
  printf 'https://example.org/\\tscore=2\\tinterval=86400\\n' | incrawl inject - --update

Metadata: score=N, depth=N (1: the seed alone), interval=SECONDS, fixedInterval=SECONDS, or keys of your own.`,
    );
  command.action((seeds: string[], options: InjectOptions) =>
    run(command, async (session) => {
      const sources = await seedSources(session, seeds);
      const mode = options.mode ?? (options.overwrite ? 'overwrite' : options.update ? 'update' : 'keep');
      const dryRun = options.dryRun === true;
      const { dir } = session.options;
      if (!dryRun && mode === 'keep' && isForPartitions(dir, session.config) && !isSpread(dir)) {
        const { beginSpread } = await import('../../../cluster/partitions/open-spread-db.ts');
        await beginSpread(await session.stateOptions({}));
      }
      const summary = await withCrawlerOrCopy(session, dryRun, (crawler) => crawler.inject(sources, { mode }), {
        mustExist: false,
      });
      const isFailed = summary.urls === 0 && summary.errors.length + summary.filtered > 0;
      const say = isFailed ? session.complain : session.note;
      for (const line of badLines(summary.errors)) say(line);
      await writeSummary(session, summary, () => `${injectText(summary)}\n`, dryRun);
      noteSent(session, summary);
      return isFailed ? EXIT.error : EXIT.done;
    }),
  );
}
