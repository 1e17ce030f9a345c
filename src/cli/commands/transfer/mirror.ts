import { type Command, Option } from 'commander';
import type { Crawler, CrawlSummary } from '../../../crawler/index.ts';
import type { MirrorSummary } from '../../../crawler/views.ts';
import { addNetworkOptions, moment, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT, exitCodeOfCrawl } from '../../../render/exit.ts';
import { stopReason } from '../../../render/live/round-table.ts';
import { bytes, count, counted } from '../../../render/quantities.ts';
import { safeText } from '../../../render/safe-text.ts';
import { failureLines, requisitesText } from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { announcedCrawl } from '../../program/announced-crawl.ts';
import { printRound } from '../../program/print-round.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface Options {
  readonly depth?: number;
  readonly all?: true;
  readonly keepGone?: true;
  readonly at?: number;
  readonly crawl: boolean;
}

export function addMirror(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('mirror')
      .argument('<site-or-folder...>', 'seeds, as of crawl, and then the folder; the folder alone refreshes it')
      .description(
        'Crawl, and keep a folder with a copy of the pages that opens in a browser: with style sheets, scripts, ' +
          'pictures and fonts, and links that lead to the copy. Later runs write what has changed.',
      )
      .addOption(
        new Option('--requisites <what>', 'what pages need to be shown (fetch.requisites)')
          .choices(['none', 'same-host', 'all'])
          .default('all'),
      )
      .option('--depth <n>', 'crawl depth: 1 is the seeds alone, 2 also the pages that they link to', wholeNumber(1))
      .option('--all', 'first make all pages due that are still visited, whatever their schedules say')
      .option('--keep-gone', 'keep files of pages that are no longer on the web')
      .option('--at <when>', 'show the pages as they were then, from the segments; nothing is crawled', moment)
      .option('--no-crawl', 'only bring the folder up to date with what is stored'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl mirror https://example.org/ copy --contact me@example.org
  incrawl mirror copy                       later again: what is due is fetched, what changed is written
  incrawl mirror copy --all                 check every page now
  incrawl mirror yesterday --at 2026-03-01  the pages as they were, in a folder of their own`,
  );
  command.action((places: string[], options: Options) =>
    run(command, async (session) => {
      const onStop = (): void => session.note(stopNote('the pages in flight'));
      return withStopSignal(session.surroundings, onStop, (signal) => mirror(session, places, options, signal));
    }),
  );
}

async function mirror(
  session: Session,
  places: readonly string[],
  options: Options,
  signal: AbortSignal,
): Promise<number> {
  const folder = places.at(-1) ?? '';
  if (/^https?:\/\//i.test(folder))
    session.refuse(
      `${folder}: expected a folder for the copy after the seeds, such as "incrawl mirror ${folder} copy"`,
    );
  const seeds = await seedSources(session, places.slice(0, -1));
  const isCrawling = options.crawl && options.at === undefined;
  if (!isCrawling && seeds.length > 0)
    session.refuse('seeds are for a crawl: leave out --at and --no-crawl, or the seeds');
  await session.showProgress();
  const { crawl, copy } = await session.withCrawler(
    async (crawler) => {
      const summary = isCrawling ? await crawled(session, crawler, seeds, options, signal) : null;
      const { keepGone, at } = options;
      const made = await crawler.mirror(folder, {
        ...(keepGone && { keepGone }),
        ...(at !== undefined && { at }),
        signal,
      });
      return { crawl: summary, copy: made };
    },
    { mustExist: seeds.length === 0 },
  );
  session.live.stop();
  await writeSummary(session, { crawl, mirror: copy }, () => mirrorText(crawl, copy));
  if (copy.isCutShort) return EXIT.stopped;
  return crawl === null ? EXIT.done : exitCodeOfCrawl(crawl);
}

async function crawled(
  session: Session,
  crawler: Crawler,
  seeds: Awaited<ReturnType<typeof seedSources>>,
  { depth, all }: Options,
  signal: AbortSignal,
): Promise<CrawlSummary> {
  return announcedCrawl(session, crawler, 'crawl', {
    ...(depth === undefined ? {} : { maxLayers: depth }),
    ...(seeds.length === 0 ? {} : { seeds }),
    ...(all && { touchAll: true }),
    signal,
    onProgress: (progress) => session.live.progress(progress),
    onRound: (round) => printRound(session, round),
  });
}

function mirrorText(crawl: CrawlSummary | null, copy: MirrorSummary): string {
  const { folder, pages, requisites, redirects, written, removed, keptGone, missing } = copy;
  const changed = [
    [written, `written (${bytes(copy.bytes)})`],
    [removed, 'removed'],
    [keptGone, 'kept though gone'],
  ] as const;
  const done = changed.filter(([times]) => times > 0).map(([times, what]) => `${count(times)} ${what}`);
  const lines = [
    ...(crawl?.requisites === undefined ? [] : [requisitesText(crawl.requisites)]),
    ...(crawl === null ? [] : [...failureLines(crawl.totals.failures), stopReason(crawl)]),
    `${safeText(folder)}: ${counted(pages, 'page')}, ${counted(requisites, 'requisite')}, ${counted(redirects, 'redirect')}; ` +
      (done.length === 0 ? 'nothing to write' : done.join(', ')),
    ...(missing === 0 ? [] : [`${counted(missing, 'address')} of requisites lead to the web, as they are not stored`]),
    ...(copy.isCutShort ? ['Stopped: the same command goes on.'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
