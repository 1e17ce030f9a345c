import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Crawler, CrawlOptions, CrawlSummary, SeedSource } from '../../../crawler/index.ts';
import { hasCrawlDb } from '../../../operations/state/state-folder.ts';
import { addNetworkOptions, durationMs, wholeNumber } from '../../../query/input/option-values.ts';
import { type Health, openHealthFile, reportLine, statusText } from '../../../remote/schedule/health.ts';
import { askStatus, heldBy, schedulerLock, statusPath } from '../../../remote/schedule/status-socket.ts';
import { EXIT, exitCodeOfCrawl } from '../../../render/exit.ts';
import { failureText } from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { announcedCrawl } from '../../program/announced-crawl.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeSummary } from '../../program/write-answer.ts';
import {
  cronTimetable,
  everyTimetable,
  firstHealth,
  reportOf,
  runSchedule,
  type Scheduler,
  type Timetable,
} from '../../schedule/run-schedule.ts';
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
      .argument('[seed...]', 'seeds as for crawl; known URLs stay unchanged')
      .description(
        'Crawl repeatedly in one process, by a cron expression or at a fixed interval. Stops cleanly on SIGTERM.',
      )
      .option('--cron <expr>', 'start times of runs: minute hour day month weekday')
      .option('--tz <zone>', 'time zone of --cron, such as Europe/Berlin; default: the system time zone')
      .option('--every <duration>', 'a run now, and then one in every interval of this length', everyOption)
      .option('--once', 'a single run, for an external scheduler')
      .option('--rounds <n>', 'at most this many rounds in a run', wholeNumber(1))
      .option('--budget-per-day <n>', 'fetches a day, spread over the runs (generate.budgetPerDay)', wholeNumber(1))
      .option('--jitter <duration>', 'delay each run by a random time up to this', durationMs)
      .option('--health <file>', 'health file to write; default: health.json in the state directory')
      .option('--status', 'print the state of the scheduler that runs on this state directory'),
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

/** A duration of at least a second, and how it was written. */
export function everyOption(text: string): { ms: number; text: string } {
  const ms = durationMs(text);
  if (ms < 1_000) throw new InvalidArgumentError('Expected at least 1s.');
  return { ms, text };
}

async function schedule(session: Session, seeds: readonly string[], flags: ScheduleFlags): Promise<number> {
  const { dir } = session.options;
  const other = await askStatus(statusPath(dir));
  if (flags.status) return printStatus(session, other);
  if (other !== null) throw heldBy(other, dir);
  const startedAt = session.now();
  const timetable = timetableOf(session, flags, startedAt);
  const sources = await seedSources(session, seeds);
  const onStop = (): void => session.note(stopNote('the pages in flight'));
  return withStopSignal(session.surroundings, onStop, async (signal) => {
    if (timetable !== null) {
      return runsOf(session, sources, flags, { pid: process.pid, timetable, startedAt }, signal);
    }
    await session.withCrawler((crawler) => prepare(session, crawler, sources));
    const summary = await crawlOnce(session, flags, { signal });
    const report = reportOf(summary, startedAt, session.now());
    await writeSummary(session, report, () => `${reportLine(report)}\n${failureText(report.failures)}`);
    return exitCodeOfCrawl(summary);
  });
}

async function runsOf(
  session: Session,
  seeds: readonly SeedSource[],
  flags: ScheduleFlags,
  scheduler: Scheduler,
  signal: AbortSignal,
): Promise<number> {
  const { dir } = session.options;
  const log = await session.log();
  const health = openHealthFile(flags.health ?? join(dir, 'health.json'), log);
  const first = firstHealth(scheduler);
  const lock = schedulerLock(dir, () => health.last ?? first, log);
  try {
    // Errors in the configuration, the seeds or the state directory show at the start, not at the first run.
    await session.withCrawler(async (crawler) => {
      await lock.acquire();
      await prepare(session, crawler, seeds);
    });
    const end = await runSchedule(
      {
        scheduler,
        jitterMs: flags.jitter ?? 0,
        now: session.now,
        sleepUntil: session.sleepUntil,
        random: Math.random,
        log,
        crawl: async (signal, onProgress) => {
          requireCrawlDb(dir);
          return crawlOnce(session, flags, { signal, onProgress }, lock.acquire);
        },
        health,
      },
      signal,
    );
    return end.stoppedIn === 'run' ? EXIT.stopped : EXIT.done;
  } finally {
    await lock.close();
  }
}

/** One run; the state directory is open only during it. */
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

/**
 * Injects the seeds. Warns about an empty crawl db: otherwise a mistyped state directory would be crawled for ever in
 * silence.
 */
async function prepare(session: Session, crawler: Crawler, seeds: readonly SeedSource[]): Promise<void> {
  await crawler.prepare(seeds);
  const { dir } = session.options;
  if ((await crawler.stats()).urls === 0)
    (await session.log()).warn(`the crawl db in ${dir} is empty: give seeds, or another --dir`);
}

/** The crawl db existed when the scheduler started. Opening an empty one in its place would hide that it is missing. */
function requireCrawlDb(dir: string): void {
  if (hasCrawlDb(dir)) return;
  throw new Error(`the crawl db in ${dir} is gone: was it moved, or is its disk not mounted?`);
}

/** `null`: a single run. */
function timetableOf(session: Session, flags: ScheduleFlags, startedAt: number): Timetable | null {
  const { cron, every, once, tz, jitter } = flags;
  const ways = [cron, every, once].filter((way) => way !== undefined);
  if (ways.length !== 1) return session.refuse('expected one of --cron, --every and --once');
  if (tz !== undefined && cron === undefined) return session.refuse('--tz goes with --cron only');
  if (once) {
    const lost = jitter !== undefined ? '--jitter' : flags.health !== undefined ? '--health' : null;
    return lost === null ? null : session.refuse(`${lost} does not go with --once`);
  }
  if (every !== undefined) return everyTimetable(every.ms, startedAt, every.text);
  try {
    return cronTimetable(cron ?? '', tz);
  } catch (error) {
    return session.refuse(
      `--cron "${cron}"${tz === undefined ? '' : ` --tz "${tz}"`}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function printStatus(session: Session, health: Health | null): Promise<number> {
  await writeAnswer(session, health, () => (health === null ? '' : statusText(health)));
  if (health !== null) return EXIT.done;
  if (!session.json) session.note(`No scheduler is running on ${session.options.dir}.`);
  return EXIT.error;
}
