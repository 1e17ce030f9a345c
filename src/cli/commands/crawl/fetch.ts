import type { Command } from 'commander';
import type { FetchSummary, ParseSummary } from '../../../crawler/views.ts';
import { addNetworkOptions } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { bytes, count } from '../../../render/quantities.ts';
import { fieldLines } from '../../../render/table.ts';
import { failureText } from '../../../render/text/seeds-text.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand, writeSummary } from '../../program/write-answer.ts';

export function addFetch(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('fetch')
      .argument('[segment]', 'default: the newest segment that is not fetched yet')
      .description(
        'Fetch the URLs of a segment. Needs no crawl db; a second run fetches the URLs that are still missing.',
      )
      .option('--parse', 'parse pages while fetching'),
  ).addHelpText('after', '\nExample:\n  incrawl generate && incrawl fetch --parse && incrawl updatedb');
  command.action((segment: string | undefined, options: { readonly parse?: true }) =>
    run(command, (session) =>
      withStopSignal(
        session.surroundings,
        () => session.note(stopNote('the pages in flight')),
        async (signal) => {
          await session.showProgress();
          const summary = await session.withSegments((crawler) =>
            crawler.fetch({
              ...(segment === undefined ? {} : { segment }),
              parse: options.parse === true,
              signal,
              onProgress: (progress) => session.live.progress(progress),
            }),
          );
          session.live.stop();
          await writeSummary(session, summary, () => fetchText(summary));
          if (!signal.aborted || summary.left === 0) return EXIT.done;
          const again = resumeCommand(session.surroundings.argv, segment === undefined ? [] : [segment]);
          session.note(`Resume with:\n  ${again} ${summary.segment}`);
          return EXIT.stopped;
        },
      ),
    ),
  );
}

function fetchText(summary: FetchSummary & { readonly parse?: ParseSummary }): string {
  const { notModified, skippedByHeaders, parse } = summary;
  const unchanged = `304 ${count(notModified)}, by headers ${count(skippedByHeaders)}, same body ${count(summary.unchanged)}`;
  return `${fieldLines([
    ['segment', summary.segment],
    [
      'fetched',
      `${count(summary.fetched)}${summary.partial === 0 ? '' : `, of which ${count(summary.partial)} in part`}`,
    ],
    ['unchanged', unchanged],
    ['gone', count(summary.gone)],
    ['redirected', count(summary.redirected)],
    ['failed', count(summary.failed)],
    ['robots denied', count(summary.robotsDenied)],
    [
      'requests',
      `${count(summary.requests)}, ${bytes(summary.bytesReceived)} received, bodies ${bytes(summary.bodyBytes)}`,
    ],
    ['left', count(summary.left)],
    ...(parse
      ? [
          [
            'parsed',
            `${count(parse.parsed)}, failed ${count(parse.failed)}, outlinks ${count(parse.outlinks)}`,
          ] as const,
        ]
      : []),
  ])}\n${failureText(summary.failures)}`;
}
