import type { Command } from 'commander';
import { DAY_MS } from '../../../core/domain/time.ts';
import type { PruneSummary, SegmentVerdict } from '../../../crawler/views.ts';
import { wholeNumber } from '../../../query/input/option-values.ts';
import { count } from '../../../render/quantities.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { wantsSummary, writeAnswer } from '../../program/write-answer.ts';

interface PruneFlags {
  readonly keepDays: number;
  readonly compact?: true;
  readonly dryRun?: true;
}

const MEANING: Readonly<Record<SegmentVerdict, string>> = {
  young: 'kept: younger than --keep-days',
  unfinished: 'kept: not applied to the crawl db yet',
  needed: 'kept: holds the current content of pages',
  removed: 'no longer needed',
  compacted: 'its pages move to one new segment',
};

export function addPrune(program: Command, run: Run): void {
  const command = program
    .command('prune')
    .description('Remove old segments, the stored pages of past rounds, that no export, diff or new parse would read.')
    .requiredOption('--keep-days <days>', 'keep segments younger than this', wholeNumber(0))
    .option('--compact', 'first move the pages of old segments that are still needed to one new segment')
    .option('--dry-run', 'only say what would be done')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl state prune --keep-days 90 --dry-run\n  incrawl state prune --keep-days 90 --compact',
    );
  command.action((flags: PruneFlags) =>
    run(command, async (session) => {
      const summary = await withCrawlerOrCopy(session, flags.dryRun === true, (crawler) =>
        crawler.pruneSegments({
          keepMs: flags.keepDays * DAY_MS,
          compact: flags.compact === true,
          dryRun: flags.dryRun === true,
        }),
      );
      if (!wantsSummary(session, summary.dryRun)) return;
      await writeAnswer(session, summary, () => pruneText(summary));
    }),
  );
}

function pruneText({ segments, removed, compactedInto, dryRun }: PruneSummary): string {
  const lines = segments.map(({ id, verdict, pagesNeeded }) => {
    const pages = pagesNeeded > 0 ? ` (${count(pagesNeeded)})` : '';
    return `${id}  ${MEANING[verdict]}${pages}`;
  });
  lines.push(`${count(removed)} ${dryRun ? 'would be removed' : 'removed'}.`);
  if (compactedInto.length > 0) lines.push(`The pages that are still needed are in ${compactedInto.join(', ')}.`);
  return `${lines.join('\n')}\n`;
}
