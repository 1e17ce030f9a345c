import type { Command } from 'commander';
import type { CrawlSummary, RoundSummary } from '../../crawler.ts';
import { EXIT, exitCodeOfStop } from '../exit.ts';
import type { Run } from '../program.ts';
import { rejectionLines } from '../render/rejections-text.ts';
import { layerLines, roundHeading, roundLine, stopReason, totalsLine } from '../render/round-table.ts';
import { resumeCommand } from '../resume-command.ts';
import { announcedCrawl } from '../run-status/announced-crawl.ts';
import { seedSources } from '../seed-sources.ts';
import type { Session } from '../session.ts';
import { addNetworkOptions, wholeNumber } from '../shared-options.ts';
import { listenForStop } from '../stop-signal.ts';

interface CrawlOptions {
  readonly rounds?: number;
  readonly topN?: number;
  readonly budget?: number;
  readonly depth?: number;
}

export function addCrawl(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('crawl')
      .argument(
        '[seed...]',
        'URLs, files of URLs, folders of such files, or - for stdin; known ones are kept as they are',
      )
      .description(
        'The loop: generate, fetch, parse, updatedb, round by round, until nothing is due. Resumes what was interrupted.',
      )
      .option('--rounds <n>', 'rounds at most', wholeNumber(1))
      .option('--top-n <n>', 'URLs per round at most (generate.topN)', wholeNumber(1))
      .option('--depth <n>', 'layers at most: 1 is the seeds alone, 2 also the pages they link to', wholeNumber(1))
      .option('--budget <n>', 'fetches of this run, spent where they win most freshness', wholeNumber(1)),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl crawl https://example.org/ --contact me@example.org --rounds 3
  incrawl crawl seeds/ --dir /var/lib/incrawl           again later: only what is due and changed is transferred
  incrawl crawl http://127.0.0.1:8080/ --allow 127.0.0.1 --delay 0`,
  );
  command.action((seeds: string[], options: CrawlOptions) =>
    run(command, async (session) => {
      const named = await seedSources(seeds, session.surroundings.stdin);
      if ('error' in named) return session.refuse(named.error);
      const stop = listenForStop(() => session.note('Finishing the pages in flight; once more stops at once.'));
      await session.showProgress();
      try {
        const summary = await session.withCrawler((crawler) =>
          announcedCrawl(session, crawler, 'crawl', {
            ...(options.rounds === undefined ? {} : { rounds: options.rounds }),
            ...(options.topN === undefined ? {} : { topN: options.topN }),
            ...(options.depth === undefined ? {} : { maxLayers: options.depth }),
            ...(options.budget === undefined ? {} : { budget: options.budget }),
            ...(named.sources.length === 0 ? {} : { seeds: named.sources }),
            signal: stop.signal,
            onProgress: (progress) => session.live.progress(progress),
            onRound: (round) => tellRound(session, round),
          }),
        );
        session.live.stop();
        await tellEnd(session, summary);
        const code = exitCodeOfStop(summary.stoppedBy);
        if (code === EXIT.stopped) session.note(`Resume with:\n  ${resumeCommand(session.surroundings.argv, seeds)}`);
        return code;
      } finally {
        stop.release();
      }
    }),
  );
}

function tellRound(session: Session, round: RoundSummary): void {
  if (session.json) return;
  session.live.around(() => {
    const heading = round.round === 1 ? `${session.bold(roundHeading())}\n` : '';
    void session.out.write(`${heading}${roundLine(round)}\n`);
    // What went wrong with stdout comes up again at the next write that is waited for.
    session.out.flush().catch(() => {});
  });
}

async function tellEnd(session: Session, summary: CrawlSummary): Promise<void> {
  if (session.json) return session.out.write(`${JSON.stringify(summary)}\n`);
  if (summary.rounds.length > 1) await session.out.write(`${totalsLine(summary)}\n`);
  for (const line of layerLines(summary.totals.layers)) await session.out.write(`${line}\n`);
  for (const line of rejectionLines(summary.totals.filteredBy)) await session.out.write(`kept out: ${line}\n`);
  await session.out.write(`${stopReason(summary.stoppedBy)}\n`);
}
