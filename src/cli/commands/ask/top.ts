import type { Command } from 'commander';
import { EXIT } from '../../exit.ts';
import { withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import { topLines } from '../../render/live/run-text.ts';
import { runPath } from '../../run-status/announce.ts';
import { askRun, followRun } from '../../run-status/follow.ts';
import type { RunStatus } from '../../run-status/run-status.ts';
import { askStatus, statusPath } from '../../schedule/status-socket.ts';
import { statusText } from '../../schedule/status-text.ts';
import type { Session } from '../../session.ts';

export function addTop(program: Command, run: Run): void {
  const command = program
    .command('top')
    .description('Watch the crawl that runs on this state directory, or the scheduler between two runs.')
    .option('--once', 'print the progress once; the default with --json, and where stdout is no terminal')
    .addHelpText(
      'after',
      `
Examples:
  incrawl top
  incrawl top --once --dir /var/lib/incrawl
  incrawl top --json | jq .run.progress.pagesPerSecond`,
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
  await writeAnswer(session, { run: status, schedule }, () => {
    if (status !== null) return `${topLines(status, session.width, session.bold).join('\n')}\n`;
    return schedule === null ? '' : statusText(schedule);
  });
  if (status !== null || schedule !== null) return EXIT.done;
  if (!session.json) session.note(nothingRuns(dir));
  return EXIT.error;
}

const nothingRuns = (dir: string): string => `Neither a crawl nor a scheduler is running on ${dir}.`;

/** Pause between two questions to a scheduler that waits for its next run, ms. */
const POLL_MS = 1_000;

/** Redraws until the run is over and no scheduler will begin another, or until Ctrl-C. */
async function watch(session: Session, terminal: NodeJS.WriteStream): Promise<number> {
  const { dir } = session.options;
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(terminal);
  let hasShown = false;
  const show = (status: RunStatus): void => {
    hasShown = true;
    draw(topLines(status, (terminal.columns || 80) - 1, session.bold).join('\n'));
  };
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await followRun(runPath(dir), show, signal);
      const schedule = await askStatus(statusPath(dir));
      if (schedule === null) break;
      hasShown = true;
      if (!signal.aborted) draw(statusText(schedule).trimEnd());
      await session.sleepUntil(session.now() + POLL_MS, signal);
    }
  };
  await withStopSignal(session.surroundings, () => {}, follow).finally(() => draw.done());
  if (!hasShown) session.note(nothingRuns(dir));
  return hasShown ? EXIT.done : EXIT.error;
}
