import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Crawler, CrawlOptions, CrawlSummary, SeedSource } from '../../../crawler.ts';
import { EXIT, exitCodeOf, exitCodeOfStop } from '../../exit.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { addNetworkOptions, durationMs, wholeNumber } from '../../program/shared-options.ts';
import { announcedCrawl } from '../../run-status/announced-crawl.ts';
import { type Health, openHealthFile } from '../../schedule/health.ts';
import { firstHealth, reportOf, runSchedule, type ScheduleDeps } from '../../schedule/run-schedule.ts';
import { sleepUntil } from '../../schedule/sleep-until.ts';
import { askStatus, heldBy, schedulerPlace, statusPath } from '../../schedule/status-socket.ts';
import { reportLine, statusText } from '../../schedule/status-text.ts';
import { cronTimetable, everyTimetable, type Timetable } from '../../schedule/timetable.ts';
import type { Session } from '../../session.ts';

interface ScheduleFlags {
  readonly cron?: string;
  readonly tz?: string;
  readonly every?: { readonly ms: number; readonly text: string };
  readonly once?: true;
  readonly rounds?: number;
  readonly budgetPerDay?: number;
  readonly jitter?: number;
  readonly health?: string;
  readonly status?: true;
}

export function addSchedule(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('schedule')
      .argument('[seed...]', 'seeds as for crawl; known ones are kept as they are')
      .description(
        'Crawl again and again in one process: by a cron expression, or every so often. Stops cleanly on SIGTERM.',
      )
      .option('--cron <expr>', 'when runs begin: minute hour day month weekday')
      .option('--tz <zone>', 'time zone of --cron, such as Europe/Berlin; default: that of the system')
      .option('--every <duration>', 'a run now, and then at this distance', everyOption)
      .option('--once', 'one run and out, for schedulers of your own')
      .option('--rounds <n>', 'rounds of each run at most', wholeNumber(1))
      .option('--budget-per-day <n>', 'fetches a day, spread over the runs (generate.budgetPerDay)', wholeNumber(1))
      .option('--jitter <duration>', 'begin up to this much later, at random', durationMs)
      .option('--health <file>', 'where to tell of itself; default: health.json in the state directory')
      .option('--status', 'ask the scheduler that runs on this state directory'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl schedule --cron "*/15 * * * *" --budget-per-day 20000
  incrawl schedule seeds/ --every 1h --dir /var/lib/incrawl
  incrawl schedule --status --json`,
  );
  command.action((seeds: string[], flags: ScheduleFlags) => run(command, (session) => schedule(session, seeds, flags)));
}

function everyOption(text: string): { ms: number; text: string } {
  const ms = durationMs(text);
  if (ms < 1_000) throw new InvalidArgumentError('Expected at least 1s.');
  return { ms, text };
}

async function schedule(session: Session, seeds: readonly string[], flags: ScheduleFlags): Promise<number> {
  const { dir } = session.options;
  const other = await askStatus(statusPath(dir));
  if (flags.status) return tellStatus(session, other);
  if (other !== null) throw heldBy(other, dir);
  const startedAt = Date.now();
  const timetable = timetableOf(session, flags, startedAt);
  const named = await seedSources(seeds, session.surroundings.stdin);
  if ('error' in named) return session.refuse(named.error);
  const stop = listenForStop(() => session.note('Finishing the pages in flight; once more stops at once.'));
  try {
    if (timetable !== null) {
      const begin = { pid: process.pid, timetable, startedAt };
      return await runsOf(session, named.sources, flags, begin, stop.signal);
    }
    await session.withCrawler((crawler) => prepare(session, crawler, named.sources));
    const report = reportOf(await crawlOnce(session, flags, { signal: stop.signal }), startedAt, Date.now());
    await session.out.write(session.json ? `${JSON.stringify(report)}\n` : `${reportLine(report)}\n`);
    return exitCodeOfStop(report.stoppedBy ?? '');
  } finally {
    stop.release();
  }
}

async function runsOf(
  session: Session,
  seeds: readonly SeedSource[],
  flags: ScheduleFlags,
  begin: Pick<ScheduleDeps, 'pid' | 'timetable' | 'startedAt'>,
  signal: AbortSignal,
): Promise<number> {
  const { dir } = session.options;
  const log = await session.log();
  const health = openHealthFile(flags.health ?? join(dir, 'health.json'), log);
  const first = firstHealth(begin);
  const place = schedulerPlace(dir, () => health.last ?? first, log);
  try {
    // What is wrong with the configuration, the seeds or the state directory shows now, and not in the night.
    await session.withCrawler(async (crawler) => {
      await place.hold();
      await prepare(session, crawler, seeds);
    });
    const end = await runSchedule(
      {
        ...begin,
        now: Date.now,
        sleepUntil,
        random: Math.random,
        jitterMs: flags.jitter ?? 0,
        log,
        crawl: async (signal, onProgress) => {
          requireCrawlDb(dir);
          return crawlOnce(session, flags, { signal, onProgress }, place.hold);
        },
        isFatal: (error) => exitCodeOf(error) === EXIT.usage,
        onHealth: health.tell,
        onProgress: health.progress,
      },
      signal,
    );
    return end.stoppedIn === 'run' ? EXIT.stopped : EXIT.done;
  } finally {
    await place.close();
  }
}

/** The state directory is open only for as long as the run takes. */
function crawlOnce(
  session: Session,
  { rounds, budgetPerDay }: ScheduleFlags,
  watch: Pick<CrawlOptions, 'signal' | 'onProgress'>,
  begin: () => Promise<void> = async () => {},
): Promise<CrawlSummary> {
  return session.withCrawler(async (crawler) => {
    await begin();
    return announcedCrawl(session, crawler, 'schedule', {
      ...watch,
      ...(rounds === undefined ? {} : { rounds }),
      ...(budgetPerDay === undefined ? {} : { generate: { budgetPerDay } }),
    });
  });
}

/** A wrong state directory would otherwise be crawled for ever, with nothing done and no word. */
async function prepare(session: Session, crawler: Crawler, seeds: readonly SeedSource[]): Promise<void> {
  await crawler.prepare(seeds);
  const { dir } = session.options;
  if ((await crawler.stats()).urls === 0)
    (await session.log()).warn(`no URL is known in ${dir} yet; name seeds, or another --dir`);
}

/**
 * It was there when the scheduler started. An empty one in its place would hide that it has gone, and may come back.
 */
function requireCrawlDb(dir: string): void {
  if (existsSync(join(dir, 'db')) || existsSync(join(dir, 'cluster.json'))) return;
  throw new Error(`there is no crawl db in ${dir} any more: was it moved, or is its disk not mounted?`);
}

/** `null`: one run and no more. */
function timetableOf(session: Session, flags: ScheduleFlags, startedAt: number): Timetable | null {
  const { cron, every, once, tz, jitter } = flags;
  const ways = [cron, every, once].filter((way) => way !== undefined);
  if (ways.length !== 1) return session.refuse('expected one of --cron, --every and --once');
  if (tz !== undefined && cron === undefined) return session.refuse('--tz is the time zone of --cron');
  if (once) {
    const lost = jitter !== undefined ? '--jitter' : flags.health !== undefined ? '--health' : null;
    return lost === null ? null : session.refuse(`${lost} has no meaning with --once`);
  }
  if (every !== undefined) return everyTimetable(every.ms, startedAt, every.text);
  try {
    return cronTimetable(cron ?? '', tz);
  } catch (error) {
    return session.refuse(`--cron "${cron}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function tellStatus(session: Session, health: Health | null): Promise<number> {
  if (session.json) await session.out.write(`${JSON.stringify(health)}\n`);
  else if (health === null) session.note(`No scheduler runs on ${session.options.dir}.`);
  else await session.out.write(statusText(health));
  return health === null ? EXIT.error : EXIT.done;
}
