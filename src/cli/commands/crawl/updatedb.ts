import { type Command, Option } from 'commander';
import type { Crawler } from '../../../crawler/index.ts';
import type { ReadmitSummary, UpdateSummary } from '../../../crawler/views.ts';
import { EXIT } from '../../../render/exit.ts';
import { count } from '../../../render/quantities.ts';
import { fieldLines } from '../../../render/table.ts';
import { failureText, readmittedText, rejectionLines } from '../../../render/text/seeds-text.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
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
    .argument('[segment]', 'default: the newest segment that is parsed and not applied yet')
    .description(
      'Apply a segment to the crawl db: states, intervals, new URLs. Applying it twice changes nothing more.',
    )
    .option('--no-additions', 'add no new URLs (updatedb.additions)')
    .option('--purge-gone', 'delete the records of gone pages (updatedb.purgeGone)')
    .addOption(
      new Option('--orphans <what>', 'pages that no page links to any more (updatedb.orphans)').choices([
        'off',
        'mark',
        'purge',
      ]),
    )
    .addOption(
      new Option(
        '--readmit-links',
        'apply no segment: filter the links of all stored pages again, by the current URL rules',
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
        if (segment !== undefined) return session.refuse('--readmit-links takes no segment');
        return readmitLinks(session, dryRun);
      }
      const apply = (crawler: Crawler): Promise<UpdateSummary> =>
        crawler.updatedb({
          ...(segment === undefined ? {} : { segment }),
          ...(flags.additions ? {} : { additions: false }),
          ...(flags.purgeGone === undefined ? {} : { purgeGone: true }),
          ...(flags.orphans === undefined ? {} : { orphans: flags.orphans }),
        });
      const summary = await withCrawlerOrCopy(
        session,
        dryRun,
        apply,
        segment === undefined ? {} : { written: [segment] },
      );
      await writeSummary(session, summary, () => updateText(summary), dryRun);
      return EXIT.done;
    }),
  );
}

function readmitLinks(session: Session, dryRun: boolean): Promise<number> {
  return withStopSignal(
    session.surroundings,
    () => session.note(stopNote('the current batch')),
    async (signal) => {
      const summary = await withCrawlerOrCopy(session, dryRun, (crawler) => crawler.readmitLinks({ signal }));
      await writeSummary(session, summary, () => readmitText(summary), dryRun);
      return summary.isCutShort ? EXIT.stopped : EXIT.done;
    },
  );
}

function readmitText(summary: ReadmitSummary): string {
  return `${fieldLines([
    ['pages', `${count(summary.pages)}${summary.isCutShort ? ', stopped before the last page' : ''}`],
    ['outlinks', linksText(summary)],
    ...rejectionLines(summary.filteredBy).map((line): [string, string] => ['  filtered out', line]),
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
    ...rejectionLines(summary.filteredBy).map((line): [string, string] => ['  filtered out', line]),
    [
      'duplicates',
      summary.restored === 0
        ? count(summary.duplicates)
        : `${count(summary.duplicates)}, ${count(summary.restored)} no longer duplicates`,
    ],
    ['purged', count(summary.purged)],
    ['orphans', count(summary.orphans)],
    ['released', count(summary.released)],
    ...(summary.readmitted === undefined ? [] : [['readmitted', readmittedText(summary.readmitted)] as const]),
  ])}\n${failureText(summary.failures)}`;
}
