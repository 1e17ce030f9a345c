import type { Command } from 'commander';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { topLines } from '../../render/live/run-text.ts';
import { runPath } from '../../run-status/announce.ts';
import { askRun, followRun } from '../../run-status/follow.ts';
import type { RunStatus } from '../../run-status/run-status.ts';
import { sleepUntil } from '../../schedule/sleep-until.ts';
import { askStatus, statusPath } from '../../schedule/status-socket.ts';
import { statusText } from '../../schedule/status-text.ts';
import type { Session } from '../../session.ts';

export function addTop(program: Command, run: Run): void {
  const command = program
    .command('top')
    .description('Watch the crawl that runs on this state directory, or the scheduler between two runs.')
    .option('--once', 'say once how far it is; the default where stdout is no terminal, and with --json')
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
      return flags.once || session.json || !session.canDraw(terminal) ? tellOnce(session) : watch(session, terminal);
    }),
  );
}

async function tellOnce(session: Session): Promise<number> {
  const { dir } = session.options;
  const status = await askRun(runPath(dir));
  const schedule = await askStatus(statusPath(dir));
  if (session.json) await session.out.write(`${JSON.stringify({ run: status, schedule })}\n`);
  else if (status !== null) await session.out.write(`${topLines(status, 160, session.bold).join('\n')}\n`);
  else if (schedule !== null) await session.out.write(statusText(schedule));
  else session.note(nothingRuns(dir));
  return status === null && schedule === null ? EXIT.error : EXIT.done;
}

const nothingRuns = (dir: string): string => `No crawl and no scheduler runs on ${dir}.`;

/** Between two looks at a scheduler that waits, ms. */
const WAIT_MS = 1_000;

/** Redraws until the run is over and no scheduler will begin another, or until Ctrl-C. */
async function watch(session: Session, terminal: NodeJS.WriteStream): Promise<number> {
  const { dir } = session.options;
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(terminal);
  const stop = listenForStop(() => {});
  let hasShown = false;
  const show = (status: RunStatus): void => {
    hasShown = true;
    draw(topLines(status, (terminal.columns || 80) - 1, session.bold).join('\n'));
  };
  try {
    while (!stop.signal.aborted) {
      await followRun(runPath(dir), show, stop.signal);
      const schedule = await askStatus(statusPath(dir));
      if (schedule === null) break;
      hasShown = true;
      if (!stop.signal.aborted) draw(statusText(schedule).trimEnd());
      await sleepUntil(Date.now() + WAIT_MS, stop.signal);
    }
  } finally {
    draw.done();
    stop.release();
  }
  if (!hasShown) session.note(nothingRuns(dir));
  return hasShown ? EXIT.done : EXIT.error;
}
