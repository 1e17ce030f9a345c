import type { Command } from 'commander';
import type { CrawlSummary, SeedSource } from '../../../crawler.ts';
import { EXIT, exitCodeOfStop } from '../../exit.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import { dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand } from '../../program/resume-command.ts';
import { addNetworkOptions, wholeNumber } from '../../program/shared-options.ts';
import { layerLines, stopReason, totalsLine } from '../../render/live/round-table.ts';
import { tellRound } from '../../render/live/tell-round.ts';
import { failureLines } from '../../render/text/failures-text.ts';
import { readmittedText } from '../../render/text/readmitted-text.ts';
import { rejectionLines } from '../../render/text/rejections-text.ts';
import { announcedCrawl } from '../../run-status/announced-crawl.ts';
import type { Session } from '../../session.ts';
import { generateText } from './generate.ts';
import { injectText } from './inject.ts';

interface CrawlOptions {
  readonly rounds?: number;
  readonly topN?: number;
  readonly budget?: number;
  readonly depth?: number;
  readonly dryRun?: boolean;
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
      .option('--budget <n>', 'fetches of this run, spent where they win most freshness', wholeNumber(1))
      .option('--dry-run', 'only say what the first round would fetch; nothing is asked for or changed'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl crawl https://example.org/ --contact me@example.org --rounds 3
  incrawl crawl seeds/ --dir /var/lib/incrawl           again later: only what is due and changed is transferred
  incrawl crawl http://127.0.0.1:8080/ --allow 127.0.0.1 --delay 0
  incrawl crawl seeds/ --dry-run`,
  );
  command.action((seeds: string[], options: CrawlOptions) =>
    run(command, async (session) => {
      const named = await seedSources(seeds, session.surroundings.stdin);
      if ('error' in named) return session.refuse(named.error);
      if (options.dryRun) return predict(session, named.sources, options);
      const stop = listenForStop(() => session.note('Finishing the pages in flight; once more stops at once.'));
      await session.showProgress();
      try {
        const { summary, isEmpty } = await session.withCrawler(async (crawler) => {
          const summary = await announcedCrawl(session, crawler, 'crawl', {
            ...(options.rounds === undefined ? {} : { rounds: options.rounds }),
            ...(options.topN === undefined ? {} : { topN: options.topN }),
            ...(options.depth === undefined ? {} : { maxLayers: options.depth }),
            ...(options.budget === undefined ? {} : { budget: options.budget }),
            ...(named.sources.length === 0 ? {} : { seeds: named.sources }),
            signal: stop.signal,
            onProgress: (progress) => session.live.progress(progress),
            onRound: (round) => tellRound(session, round),
          });
          return { summary, isEmpty: summary.rounds.length === 0 && (await crawler.stats()).urls === 0 };
        });
        session.live.stop();
        await tellEnd(session, summary);
        if (isEmpty) session.note('No URL is known yet. Name seeds: incrawl crawl https://example.org/');
        const code = exitCodeOfStop(summary.stoppedBy);
        if (code === EXIT.stopped) session.note(`Resume with:\n  ${resumeCommand(session.surroundings.argv, seeds)}`);
        return code;
      } finally {
        stop.release();
      }
    }),
  );
}

/** Seeds and fetch list of the first round, on a copy of the state that is thrown away. */
async function predict(
  session: Session,
  seeds: readonly SeedSource[],
  { topN, depth, budget }: CrawlOptions,
): Promise<number> {
  const summary = await session.withDryRun(async (crawler) => {
    const inject = seeds.length === 0 ? null : await crawler.inject(seeds);
    const resumes = (await crawler.segments()).filter(({ state }) => state !== 'updated').map(({ id }) => id);
    const generate = await crawler.generate({
      dryRun: true,
      ...(topN === undefined ? {} : { topN }),
      ...(depth === undefined ? {} : { maxLayers: depth }),
      ...(budget === undefined ? {} : { budget }),
    });
    return { resumes, inject, generate };
  });
  const { resumes, inject, generate } = summary;
  const lines = resumes.map((id) => `Segment ${id} would be finished first.`);
  if (inject !== null) lines.push(injectText(inject));
  const text = `${dryRunNotice(true)}${lines.map((line) => `${line}\n`).join('')}${generateText(generate)}`;
  await session.out.write(session.json ? `${jsonOf(summary, true)}\n` : text);
  return EXIT.done;
}

async function tellEnd(session: Session, summary: CrawlSummary): Promise<void> {
  if (session.json) return session.out.write(`${JSON.stringify(summary)}\n`);
  if (summary.readmitted !== undefined) await session.out.write(`readmitted: ${readmittedText(summary.readmitted)}\n`);
  if (summary.rounds.length > 1) await session.out.write(`${totalsLine(summary)}\n`);
  for (const line of layerLines(summary.totals.layers)) await session.out.write(`${line}\n`);
  for (const line of failureLines(summary.totals.failures)) await session.out.write(`${line}\n`);
  for (const line of rejectionLines(summary.totals.filteredBy)) await session.out.write(`kept out: ${line}\n`);
  await session.out.write(`${stopReason(summary.stoppedBy)}\n`);
}
