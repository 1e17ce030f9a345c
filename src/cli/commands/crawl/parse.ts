import type { Command } from 'commander';
import type { Crawler, ParseSummary } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import { dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { count } from '../../render/quantities.ts';

export function addParse(program: Command, run: Run): void {
  const command = program
    .command('parse')
    .argument('[segment]', 'default: the newest one that is fetched and not parsed yet')
    .description('Parse the pages of a segment: text, title, links, signature. Needs no crawl db.')
    .option('--force', 'throw earlier parse output away and parse anew, after plugins have changed')
    .option('--dry-run', 'parse a copy, and only say what came of it')
    .addHelpText('after', '\nExamples:\n  incrawl parse --force\n  incrawl parse --force --dry-run');
  command.action((segment: string | undefined, options: { readonly force?: true; readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const stop = listenForStop(() => session.note('Finishing the pages at hand; once more stops at once.'));
      try {
        const parse = (crawler: Crawler): Promise<ParseSummary> =>
          crawler.parse({
            ...(segment === undefined ? {} : { segment }),
            force: options.force === true,
            signal: stop.signal,
          });
        const { dryRun = false } = options;
        const written = segment === undefined ? [] : [segment];
        const summary = await (dryRun ? session.withDryRun(parse, written) : session.withSegments(parse));
        const text = `Segment ${summary.segment}: ${count(summary.parsed)} pages parsed, ${count(summary.failed)} failed, ${count(summary.outlinks)} outlinks.`;
        await session.out.write(session.json ? `${jsonOf(summary, dryRun)}\n` : `${dryRunNotice(dryRun)}${text}\n`);
        return stop.signal.aborted ? EXIT.stopped : EXIT.done;
      } finally {
        stop.release();
      }
    }),
  );
}
