import type { Command } from 'commander';
import type { FetchSummary, ParseSummary } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand } from '../../program/resume-command.ts';
import { addNetworkOptions } from '../../program/shared-options.ts';
import { bytes, count } from '../../render/quantities.ts';
import { fieldLines } from '../../render/table.ts';
import { failureText } from '../../render/text/failures-text.ts';

export function addFetch(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('fetch')
      .argument('[segment]', 'default: the newest one that is not fetched yet')
      .description(
        'Fetch the URLs of a segment. Needs no crawl db; run again, it fetches what the segment still lacks.',
      )
      .option('--parse', 'parse pages while others are fetched'),
  ).addHelpText('after', '\nExample:\n  incrawl generate && incrawl fetch --parse && incrawl updatedb');
  command.action((segment: string | undefined, options: { readonly parse?: true }) =>
    run(command, async (session) => {
      const stop = listenForStop(() => session.note('Finishing the pages in flight; once more stops at once.'));
      await session.showProgress();
      try {
        const summary = await session.withSegments((crawler) =>
          crawler.fetch({
            ...(segment === undefined ? {} : { segment }),
            parse: options.parse === true,
            signal: stop.signal,
            onProgress: (progress) => session.live.progress(progress),
          }),
        );
        session.live.stop();
        await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : fetchText(summary));
        if (!stop.signal.aborted || summary.left === 0) return EXIT.done;
        const again = resumeCommand(session.surroundings.argv, segment === undefined ? [] : [segment]);
        session.note(`Resume with:\n  ${again} ${summary.segment}`);
        return EXIT.stopped;
      } finally {
        stop.release();
      }
    }),
  );
}

function fetchText(summary: FetchSummary & { readonly parse?: ParseSummary }): string {
  const unchanged = `304 ${count(summary.notModified)}, by headers ${count(summary.skippedByHeaders)}, same body ${count(summary.unchanged)}`;
  const { parse } = summary;
  return `${fieldLines([
    ['segment', summary.segment],
    ['fetched', count(summary.fetched)],
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
