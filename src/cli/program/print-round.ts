import type { RoundSummary } from '../../crawler/index.ts';
import { roundHeading, roundLines } from '../../render/live/round-table.ts';
import type { Session } from '../session.ts';

/** Prints a finished round as a line of the table of rounds. */
export function printRound(session: Session, round: RoundSummary): void {
  if (session.json || session.options.quiet) return;
  session.live.around(() => {
    const { width } = session;
    const heading = round.round === 1 ? roundHeading(width) : null;
    const lines = [...(heading === null ? [] : [session.bold(heading)]), ...roundLines(round, width)];
    void session.out.write(lines.map((line) => `${line}\n`).join(''));
    // An error of stdout rejects the next write that is awaited.
    session.out.flush().catch(() => {});
  });
}
