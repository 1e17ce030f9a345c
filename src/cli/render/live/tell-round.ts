import type { RoundSummary } from '../../../crawler.ts';
import type { Session } from '../../session.ts';
import { roundHeading, roundLine } from './round-table.ts';

/** A round that is over, as a line for people. */
export function tellRound(session: Session, round: RoundSummary): void {
  if (session.json) return;
  session.live.around(() => {
    const heading = round.round === 1 ? `${session.bold(roundHeading())}\n` : '';
    void session.out.write(`${heading}${roundLine(round)}\n`);
    // What went wrong with stdout comes up again at the next write that is waited for.
    session.out.flush().catch(() => {});
  });
}
