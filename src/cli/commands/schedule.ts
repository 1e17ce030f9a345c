import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { CrawlSummary } from '../../crawler.ts';
import { CrawlError } from '../../domain/errors.ts';
import { EXIT, exitCodeOf, exitCodeOfStop } from '../exit.ts';
import type { Run } from '../program.ts';
import { fieldLines } from '../render/table.ts';
import { type Health, writeHealth } from '../schedule/health.ts';
import { reportOf, runSchedule } from '../schedule/run-schedule.ts';
import { askStatus, serveStatus, statusPath } from '../schedule/status-socket.ts';
import { cronTimetable, everyTimetable, type Timetable } from '../schedule/timetable.ts';
import { seedSources } from '../seed-sources.ts';
import type { Session } from '../session.ts';
import { addNetworkOptions, durationMs, wholeNumber } from '../shared-options.ts';
import { listenForStop } from '../stop-signal.ts';

interface ScheduleFlags {
  readonly cron?: string;
  readonly tz?: string;
  readonly every?: { readonly ms: number; readonly text: string };
  readonly once?: true;
  readonly rounds?: number;
  readonly budgetPerDay?: number;
  readonly jitter: number;
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
      .option('--jitter <duration>', 'begin up to this much later, at random', durationMs, 0)
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
  const path = statusPath(session.options.dir);
  const other = await askStatus(path);
  if (flags.status) return tellStatus(session, other);
  if (other !== null) {
    throw new CrawlError('db-locked', `process ${other.pid} runs the schedule of ${session.options.dir} already`);
  }
  const startedAt = Date.now();
  const timetable = flags.once ? null : timetableOf(session, flags, startedAt);
  const named = await seedSources(seeds, session.surroundings.stdin);
  if ('error' in named) return session.refuse(named.error);
  await mkdir(session.options.dir, { recursive: true });
  const healthFile = flags.health ?? join(session.options.dir, 'health.json');
  const log = await session.log();
  const stop = listenForStop(() => session.note('Finishing the pages in flight; once more stops at once.'));
  let sources = named.sources;
  const crawl = async (signal: AbortSignal): Promise<CrawlSummary> => {
    const { rounds, budgetPerDay } = flags;
    const summary = await session.withCrawler((crawler) =>
      crawler.crawl({
        signal,
        ...(rounds === undefined ? {} : { rounds }),
        ...(sources.length === 0 ? {} : { seeds: sources }),
        ...(budgetPerDay === undefined ? {} : { generate: { budgetPerDay } }),
      }),
    );
    // Seeds enter with the first run; streams could not be read again.
    sources = [];
    return summary;
  };
  try {
    if (timetable === null) {
      const report = reportOf(await crawl(stop.signal), startedAt, Date.now());
      await session.out.write(session.json ? `${JSON.stringify(report)}\n` : `${reportLine(report)}\n`);
      return exitCodeOfStop(report.stoppedBy ?? '');
    }
    let health: Health | null = null;
    const socket = await serveStatus(path, () => health as Health);
    try {
      const end = await runSchedule(
        {
          timetable,
          startedAt,
          now: Date.now,
          sleepUntil,
          random: Math.random,
          jitterMs: flags.jitter,
          log,
          crawl,
          pid: process.pid,
          isFatal: (error) => exitCodeOf(error) === EXIT.usage,
          onHealth: async (next) => {
            health = next;
            await writeHealth(healthFile, next);
          },
        },
        stop.signal,
      );
      return end.stoppedIn === 'run' ? EXIT.stopped : EXIT.done;
    } finally {
      await socket.close();
    }
  } finally {
    stop.release();
  }
}

function timetableOf(session: Session, { cron, every, tz }: ScheduleFlags, startedAt: number): Timetable {
  if ((cron === undefined) === (every === undefined)) return session.refuse('expected --cron, --every or --once');
  if (every !== undefined) return everyTimetable(every.ms, startedAt, every.text);
  try {
    return cronTimetable(cron ?? '', tz);
  } catch (error) {
    return session.refuse(`--cron "${cron}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The longest wait of one timer; further ones follow. */
const MAX_TIMER_MS = 3_600_000;

async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && Date.now() < at) {
    const waitMs = Math.min(MAX_TIMER_MS, at - Date.now());
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, waitMs));
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

async function tellStatus(session: Session, health: Health | null): Promise<number> {
  if (session.json) await session.out.write(`${JSON.stringify(health)}\n`);
  else if (health === null) session.note(`No scheduler runs on ${session.options.dir}.`);
  else {
    const { lastRun } = health;
    await session.out.write(
      `${fieldLines([
        ['process', String(health.pid)],
        ['state', health.state],
        ['timetable', health.timetable],
        ['since', health.startedAt],
        ['runs', `${health.runs}, of which ${health.failedRuns} failed; ${health.skippedStarts} starts skipped`],
        ['next run', health.nextRunAt ?? '-'],
        ['last run', lastRun === null ? '-' : reportLine(lastRun)],
      ])}\n`,
    );
  }
  return health === null ? EXIT.error : EXIT.done;
}

function reportLine(report: NonNullable<Health['lastRun']>): string {
  if (report.error !== null) return `${report.at} failed: ${report.error}`;
  return `${report.at}: ${report.requests} requests, ${report.new} new, ${report.modified} modified, ${report.unchanged} unchanged, ${report.gone} gone, ${report.failed} failed (${report.stoppedBy})`;
}
