import { type Command, Option } from 'commander';
import type { Crawler, UpdateSummary } from '../../crawler.ts';
import { asAsked, DRY_RUN, jsonOf, told } from '../dry-run.ts';
import type { Run } from '../program.ts';
import { failureText } from '../render/failures-text.ts';
import { count } from '../render/quantities.ts';
import { rejectionLines } from '../render/rejections-text.ts';
import { fieldLines } from '../render/table.ts';

interface UpdateFlags {
  readonly additions: boolean;
  readonly purgeGone?: true;
  readonly orphans?: 'off' | 'mark' | 'purge';
  readonly dryRun?: boolean;
}

export function addUpdatedb(program: Command, run: Run): void {
  const command = program
    .command('updatedb')
    .argument('[segment]', 'default: the newest one that is parsed and not applied yet')
    .description(
      'Apply a segment to the crawl db: states, intervals, newly found URLs. Applying twice is the same as once.',
    )
    .option('--no-additions', 'add no new URLs (updatedb.additions)')
    .option('--purge-gone', 'delete records of pages that are gone for good (updatedb.purgeGone)')
    .addOption(
      new Option('--orphans <what>', 'pages that nothing links to any more (updatedb.orphans)').choices([
        'off',
        'mark',
        'purge',
      ]),
    )
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  incrawl updatedb --no-additions\n  incrawl updatedb --dry-run');
  command.action((segment: string | undefined, flags: UpdateFlags) =>
    run(command, async (session) => {
      const { dryRun = false } = flags;
      const apply = (crawler: Crawler): Promise<UpdateSummary> =>
        crawler.updatedb({
          ...(segment === undefined ? {} : { segment }),
          ...(flags.additions ? {} : { additions: false }),
          ...(flags.purgeGone === undefined ? {} : { purgeGone: true }),
          ...(flags.orphans === undefined ? {} : { orphans: flags.orphans }),
        });
      const summary = await asAsked(session, dryRun, apply, segment === undefined ? [] : [segment]);
      await session.out.write(session.json ? `${jsonOf(summary, dryRun)}\n` : `${told(dryRun)}${updateText(summary)}`);
    }),
  );
}

function updateText(summary: UpdateSummary): string {
  const distance = summary.meanDistance === null ? '' : `, mean distance ${count(summary.meanDistance)} bits`;
  return `${fieldLines([
    ['segment', summary.segment],
    ['applied', count(summary.applied)],
    ['new', count(summary.new)],
    ['modified', `${count(summary.modified)}${distance}`],
    ['unchanged', count(summary.unchanged)],
    ['gone', count(summary.gone)],
    ['redirected', count(summary.redirected)],
    ['failed', count(summary.failed)],
    [
      'outlinks',
      `${count(summary.outlinks)}, ${count(summary.newUrls)} new URLs, ${count(summary.filteredUrls)} filtered out`,
    ],
    ...rejectionLines(summary.filteredBy).map((line): [string, string] => ['  kept out', line]),
    [
      'duplicates',
      summary.restored === 0
        ? count(summary.duplicates)
        : `${count(summary.duplicates)}, and ${count(summary.restored)} stand for themselves again`,
    ],
    ['purged', count(summary.purged)],
    ['orphans', count(summary.orphans)],
    ['released', count(summary.released)],
  ])}\n${failureText(summary.failures)}`;
}
