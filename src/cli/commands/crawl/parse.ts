import type { Command } from 'commander';
import type { Crawler } from '../../../crawler/index.ts';
import type { ParseSummary } from '../../../crawler/views.ts';
import { EXIT } from '../../../render/exit.ts';
import { count, counted } from '../../../render/quantities.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

export function addParse(program: Command, run: Run): void {
  const command = program
    .command('parse')
    .argument('[segment]', 'default: the newest segment that is fetched and not parsed yet')
    .description('Parse the pages of a segment: text, title, links, signature. Needs no crawl db.')
    .option(
      '--force',
      'discard earlier parse output and parse again; for pages that are in the crawl db: incrawl reparse',
    )
    .option('--dry-run', 'parse a copy, and only print the summary')
    .addHelpText('after', '\nExamples:\n  incrawl parse --force\n  incrawl parse --force --dry-run');
  command.action((segment: string | undefined, options: { readonly force?: true; readonly dryRun?: boolean }) =>
    run(command, (session) =>
      withStopSignal(
        session.surroundings,
        () => session.note(stopNote('the pages being parsed')),
        async (signal) => {
          const parse = (crawler: Crawler): Promise<ParseSummary> =>
            crawler.parse({ ...(segment === undefined ? {} : { segment }), force: options.force === true, signal });
          const { dryRun = false } = options;
          const written = segment === undefined ? [] : [segment];
          const summary = await (dryRun ? session.withDryRun(parse, { written }) : session.withSegments(parse));
          await writeSummary(session, summary, () => parseText(summary), dryRun);
          return signal.aborted ? EXIT.stopped : EXIT.done;
        },
      ),
    ),
  );
}

const parseText = ({ segment, parsed, failed, outlinks }: ParseSummary): string =>
  `Segment ${segment}: ${counted(parsed, 'page')} parsed, ${count(failed)} failed, ${counted(outlinks, 'outlink')}.\n`;
