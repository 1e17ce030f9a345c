import { type Command, Option } from 'commander';
import type { Crawler, ReadmitSummary, UpdateSummary } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import { asAsked, DRY_RUN, dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { count } from '../../render/quantities.ts';
import { fieldLines } from '../../render/table.ts';
import { failureText } from '../../render/text/failures-text.ts';
import { readmittedText } from '../../render/text/readmitted-text.ts';
import { rejectionLines } from '../../render/text/rejections-text.ts';
import type { Session } from '../../session.ts';

interface UpdateFlags {
  readonly additions: boolean;
  readonly purgeGone?: true;
  readonly orphans?: 'off' | 'mark' | 'purge';
  readonly readmitLinks?: true;
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
    .addOption(
      new Option(
        '--readmit-links',
        'apply no segment: judge the links of all stored pages by the URL rules of today',
      ).conflicts(['additions', 'purgeGone', 'orphans']),
    )
    .option('--dry-run', DRY_RUN)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl updatedb --no-additions\n  incrawl updatedb --dry-run\n  incrawl updatedb --readmit-links',
    );
  command.action((segment: string | undefined, flags: UpdateFlags) =>
    run(command, async (session) => {
      const { dryRun = false } = flags;
      if (flags.readmitLinks) {
        if (segment !== undefined) return session.refuse('--readmit-links applies no segment: name none');
        return readmitLinks(session, dryRun);
      }
      const apply = (crawler: Crawler): Promise<UpdateSummary> =>
        crawler.updatedb({
          ...(segment === undefined ? {} : { segment }),
          ...(flags.additions ? {} : { additions: false }),
          ...(flags.purgeGone === undefined ? {} : { purgeGone: true }),
          ...(flags.orphans === undefined ? {} : { orphans: flags.orphans }),
        });
      const summary = await asAsked(session, dryRun, apply, segment === undefined ? [] : [segment]);
      await session.out.write(
        session.json ? `${jsonOf(summary, dryRun)}\n` : `${dryRunNotice(dryRun)}${updateText(summary)}`,
      );
      return EXIT.done;
    }),
  );
}

async function readmitLinks(session: Session, dryRun: boolean): Promise<number> {
  const stop = listenForStop(() => session.note('Finishing the batch at hand; once more stops at once.'));
  try {
    const summary = await asAsked(session, dryRun, (crawler) => crawler.readmitLinks({ signal: stop.signal }));
    const text = `${dryRunNotice(dryRun)}${readmitText(summary)}`;
    await session.out.write(session.json ? `${jsonOf(summary, dryRun)}\n` : text);
    return summary.isCutShort ? EXIT.stopped : EXIT.done;
  } finally {
    stop.release();
  }
}

function readmitText(summary: ReadmitSummary): string {
  return `${fieldLines([
    ['pages', `${count(summary.pages)}${summary.isCutShort ? ', stopped before the last' : ''}`],
    ['outlinks', linksText(summary)],
    ...rejectionLines(summary.filteredBy).map((line): [string, string] => ['  kept out', line]),
  ])}\n`;
}

const linksText = ({ outlinks, newUrls, filteredUrls }: Omit<ReadmitSummary, 'pages' | 'isCutShort' | 'demotedBy'>) =>
  `${count(outlinks)}, ${count(newUrls)} new URLs, ${count(filteredUrls)} filtered out`;

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
    ['outlinks', linksText(summary)],
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
    ...(summary.readmitted === undefined ? [] : [['readmitted', readmittedText(summary.readmitted)] as const]),
  ])}\n${failureText(summary.failures)}`;
}
