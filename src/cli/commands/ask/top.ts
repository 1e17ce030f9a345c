import type { Command } from 'commander';
import { livingOf } from '../../../cluster/workers/workers-view.ts';
import type { WorkersWatch } from '../../../crawler/views.ts';
import { askRun, followRun, runPath } from '../../../remote/run-status/announce.ts';
import type { RunStatus } from '../../../remote/run-status/run-status.ts';
import { topLines } from '../../../remote/run-status/run-text.ts';
import { statusText } from '../../../remote/schedule/health.ts';
import { askStatus, statusPath } from '../../../remote/schedule/status-socket.ts';
import { EXIT } from '../../../render/exit.ts';
import { workersLines } from '../../../render/workers-columns.ts';
import { withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

export function addTop(program: Command, run: Run): void {
  const command = program
    .command('top')
    .description(
      'Watch the crawl that runs on this state directory, or the scheduler between two runs; with cluster.store all ' +
        'workers and partitions of the crawl, on whatever machine.',
    )
    .option('--once', 'print the progress once; the default with --json, and where stdout is no terminal')
    .addHelpText(
      'after',
      `
Examples:
  incrawl top
  incrawl top --once --dir /var/lib/incrawl
  incrawl top --json | jq .run.progress.pagesPerSecond
  incrawl top -D cluster.store=postgres://crawler@10.0.0.7/crawl -D cluster.name=my-crawl`,
    );
  command.action((flags: { readonly once?: true }) =>
    run(command, (session) => {
      const terminal = session.surroundings.stdout;
      return flags.once || session.json || !session.canDraw(terminal) ? printOnce(session) : watch(session, terminal);
    }),
  );
}

async function printOnce(session: Session): Promise<number> {
  const { dir } = session.options;
  const status = await askRun(runPath(dir));
  const schedule = await askStatus(statusPath(dir));
  const watched = await watchedWorkers(session);
  const workers = watched === null ? null : await watched.read().finally(watched.close);
  await writeAnswer(session, { run: status, schedule, workers }, () => {
    if (workers !== null) return linesText(workersLines(workers, session));
    if (status !== null) return linesText(topLines(status, session.width, session.bold));
    return schedule === null ? '' : statusText(schedule);
  });
  const isWorkedOn = workers !== null && livingOf(workers).length > 0;
  if (status !== null || schedule !== null || isWorkedOn) return EXIT.done;
  if (!session.json) session.note(workers === null ? nothingRuns(dir) : NO_WORKER);
  return EXIT.error;
}

const linesText = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const nothingRuns = (dir: string): string => `Neither a crawl nor a scheduler is running on ${dir}.`;
const NO_WORKER = 'No worker is running: "incrawl work" starts one.';

/** `null`: the crawl db is in the state directory. */
async function watchedWorkers(session: Session): Promise<WorkersWatch | null> {
  if (session.config.cluster.store === '') return null;
  const { openWorkers } = await import('../../../cluster/workers/open-workers.ts');
  return openWorkers(session.config, await session.log());
}

/** Pause between two polls of a waiting scheduler, or of the workers' server, ms. */
const POLL_MS = 1_000;
const WORKERS_MS = 2_000;

/** Redraws until the run is over and no scheduler will start another, or until Ctrl-C. */
async function watch(session: Session, terminal: NodeJS.WriteStream): Promise<number> {
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(terminal);
  const watched = await watchedWorkers(session);
  const follow = watched === null ? followRuns(session, terminal, draw) : followWorkers(session, watched, draw);
  const hasShown = await withStopSignal(session.surroundings, () => {}, follow)
    .finally(() => draw.done())
    .finally(watched?.close);
  if (!hasShown) session.note(watched === null ? nothingRuns(session.options.dir) : NO_WORKER);
  return hasShown ? EXIT.done : EXIT.error;
}

type Draw = (text: string) => void;

/** Resolves with whether something ran. */
function followRuns(session: Session, terminal: NodeJS.WriteStream, draw: Draw) {
  const { dir } = session.options;
  return async (signal: AbortSignal): Promise<boolean> => {
    let hasShown = false;
    const show = (status: RunStatus): void => {
      hasShown = true;
      draw(topLines(status, (terminal.columns || 80) - 1, session.bold).join('\n'));
    };
    while (!signal.aborted) {
      await followRun(runPath(dir), show, signal);
      const schedule = await askStatus(statusPath(dir));
      if (schedule === null) break;
      hasShown = true;
      if (!signal.aborted) draw(statusText(schedule).trimEnd());
      await session.sleepUntil(session.now() + POLL_MS, signal);
    }
    return hasShown;
  };
}

/** The same for the workers of a shared crawl, on any machine. */
function followWorkers(session: Session, watched: WorkersWatch, draw: Draw) {
  const terminal = session.surroundings.stdout;
  return async (signal: AbortSignal): Promise<boolean> => {
    let hasRun = false;
    while (!signal.aborted) {
      const view = await watched.read();
      if (view === null) break;
      const style = { bold: session.bold, width: (terminal.columns || 80) - 1 };
      // All lines except the heading, the workers and their faults.
      const most = (terminal.rows || 24) - 2 * view.workers.length - 8;
      draw(workersLines(view, style, most).join('\n'));
      if (livingOf(view).length === 0) break;
      hasRun = true;
      await session.sleepUntil(session.now() + WORKERS_MS, signal);
    }
    return hasRun;
  };
}
