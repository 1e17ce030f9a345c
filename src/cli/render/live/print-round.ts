import type { RoundSummary } from '../../../crawler.ts';
import type { Session } from '../../session.ts';
import { roundHeading, roundLine } from './round-table.ts';

/** Prints a finished round as a line of the table of rounds. */
export function printRound(session: Session, round: RoundSummary): void {
  if (session.json || session.options.quiet) return;
  session.live.around(() => {
    const heading = round.round === 1 ? `${session.bold(roundHeading())}\n` : '';
    void session.out.write(`${heading}${roundLine(round)}\n`);
    // An error of stdout rejects the next write that is awaited.
    session.out.flush().catch(() => {});
  });
}
