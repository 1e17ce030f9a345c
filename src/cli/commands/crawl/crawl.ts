// cli/commands/crawl/: commands that crawl, and the steps of the loop.

import type { Command } from 'commander';
import type { Crawler, CrawlSummary, SeedSource } from '../../../crawler/index.ts';
import type { SeedsSummary } from '../../../crawler/views.ts';
import { addNetworkOptions, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT, exitCodeOfCrawl } from '../../../render/exit.ts';
import {
  interruptedLines,
  layerLines,
  stopFault,
  stopReason,
  totalsLines,
  waitingLines,
} from '../../../render/live/round-table.ts';
import {
  failureLines,
  injectText,
  readmittedText,
  rejectionLines,
  requisitesText,
  seedLines,
} from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { announcedCrawl } from '../../program/announced-crawl.ts';
import { printRound } from '../../program/print-round.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand, writeAnswer, writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';
import { generateText } from './generate.ts';
import { touchedText } from './touch.ts';

interface CrawlOptions {
  readonly rounds?: number;
  readonly topN?: number;
  readonly budget?: number;
  readonly depth?: number;
  readonly all?: true;
  readonly dryRun?: boolean;
}

export function addCrawl(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('crawl')
      .argument('[seed...]', 'URLs, files of URLs, folders of such files, or - for stdin; known URLs stay unchanged')
      .description(
        'Run rounds of generate, fetch, parse and updatedb until nothing is due. An interrupted round is resumed.',
      )
      .option('--all', 'first make all pages due that are still visited, whatever their schedules say')
      .option('--rounds <n>', 'at most this many rounds', wholeNumber(1))
      .option('--top-n <n>', 'at most this many URLs a round (generate.topN)', wholeNumber(1))
      .option('--depth <n>', 'crawl depth: 1 is the seeds alone, 2 also the pages that they link to', wholeNumber(1))
      .option(
        '--budget <n>',
        'at most this many fetches in this run, spent where they gain most freshness',
        wholeNumber(1),
      )
      .option('--pause <duration>', 'pause between two rounds (crawl.pause)')
      .option('--dry-run', 'only say what the first round would fetch; nothing is requested or changed'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl crawl https://example.org/ --contact me@example.org --rounds 3
  incrawl crawl seeds/ --dir crawldb   later again: transfers what is due and changed
  incrawl crawl --all                    check everything now
  incrawl crawl http://127.0.0.1:8080/ --allow 127.0.0.1 --delay 0
  incrawl crawl seeds/ --dry-run`,
  );
  command.action((seeds: string[], options: CrawlOptions) =>
    run(command, async (session) => {
      const sources = await seedSources(session, seeds);
      if (options.dryRun) return predict(session, sources, options);
      const onStop = (): void => session.note(stopNote('the pages in flight'));
      const code = await withStopSignal(session.surroundings, onStop, (signal) =>
        crawl(session, sources, options, signal),
      );
      if (code === EXIT.stopped)
        session.note(`Resume with:\n  ${resumeCommand(session.surroundings.argv, [...seeds, ALL])}`);
      return code;
    }),
  );
}

/** Left out of the resume command: pages visited before the stop would be due again. */
const ALL = '--all';

async function crawl(
  session: Session,
  seeds: readonly SeedSource[],
  options: CrawlOptions,
  signal: AbortSignal,
): Promise<number> {
  const { rounds } = options;
  await session.showProgress();
  const run = async (crawler: Crawler) => {
    const summary = await announcedCrawl(session, crawler, 'crawl', {
      ...limitsOf(options),
      ...(rounds === undefined ? {} : { rounds }),
      ...(seeds.length === 0 ? {} : { seeds }),
      ...(options.all && { touchAll: true }),
      signal,
      onProgress: (progress) => session.live.progress(progress),
      onRound: (round) => printRound(session, round),
    });
    return { summary, isEmpty: summary.rounds.length === 0 && (await crawler.stats()).urls === 0 };
  };
  const { summary, isEmpty } = await session.withCrawler(run, { mustExist: seeds.length === 0 });
  session.live.stop();
  await writeSummary(session, summary, () => crawlText(summary, session.width));
  const fault = stopFault(summary.stoppedBy);
  if (fault !== null && session.options.quiet) session.complain(`incrawl: ${fault}`);
  if (isEmpty && seeds.length === 0)
    session.complain('The crawl db is empty. Give seeds: incrawl crawl https://example.org/');
  const code = exitCodeOfCrawl(summary);
  const isSeedless = hasNoSeed(summary);
  if (code === EXIT.done && !isSeedless) return isEmpty ? EXIT.error : code;
  if (code !== EXIT.done && code !== EXIT.error) return code;
  const reasons = isSeedless ? seedLines(summary.seeds) : failureLines(summary.totals.failures);
  if (session.options.quiet) for (const line of reasons) session.complain(`incrawl: ${line}`);
  return EXIT.error;
}

/** Whether none of the seeds was fetched and no further round will fetch one. */
function hasNoSeed(summary: CrawlSummary): summary is CrawlSummary & { readonly seeds: SeedsSummary } {
  const { seeds, stoppedBy } = summary;
  if (seeds === undefined || seeds.fetched + seeds.unchecked > 0) return false;
  return seeds.failed + seeds.refused > 0 && (seeds.waiting === 0 || stoppedBy === 'nothing-due');
}

/** Limits that a whole crawl and a single round share. */
function limitsOf({ topN, depth, budget }: CrawlOptions) {
  return {
    ...(topN === undefined ? {} : { topN }),
    ...(depth === undefined ? {} : { maxLayers: depth }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** Seeds and fetch list of the first round, on a copy of the state that is discarded. */
async function predict(session: Session, seeds: readonly SeedSource[], options: CrawlOptions): Promise<number> {
  const summary = await session.withDryRun(async (crawler) => {
    const inject = seeds.length === 0 ? null : await crawler.inject(seeds, { mode: 'retry' });
    const resumes = (await crawler.segments()).filter(({ state }) => state !== 'updated').map(({ id }) => id);
    const touched = options.all ? await crawler.touchMatching({}) : null;
    const generate = await crawler.generate({ dryRun: true, ...limitsOf(options) });
    return { resumes, inject, ...(touched !== null && { touched }), generate };
  });
  const { resumes, inject, touched, generate } = summary;
  const text = (): string => {
    const lines = resumes.map((id) => `Segment ${id} would be finished first.`);
    if (inject !== null) lines.push(injectText(inject));
    if (touched !== undefined) lines.push(touchedText(touched));
    return `${lines.map((line) => `${line}\n`).join('')}${generateText(generate)}`;
  };
  await writeAnswer(session, summary, text, true);
  return EXIT.done;
}

function crawlText(summary: CrawlSummary, width: number): string {
  const { totals, readmitted, requisites, rounds, seeds, touched } = summary;
  const lines = [
    ...(touched === undefined ? [] : [touchedText(touched)]),
    ...(readmitted === undefined ? [] : [`readmitted: ${readmittedText(readmitted)}`]),
    ...(rounds.length > 1 ? totalsLines(summary, width) : []),
    ...layerLines(totals.layers),
    ...(requisites === undefined ? [] : [requisitesText(requisites)]),
    ...rejectionLines(totals.filteredBy).map((line) => `filtered out: ${line}`),
    ...(seeds === undefined ? [] : seedLines(seeds)),
    ...interruptedLines(summary),
    ...waitingLines(summary),
    ...failureLines(totals.failures),
    stopReason(summary),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
