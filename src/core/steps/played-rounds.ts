import { type CrawlSummary, type RoundSummary, totalsOf } from './round-summary.ts';

/** Rounds that a summary lists one by one, at least. */
const KEPT_ROUNDS = 1_000;

/** The rounds of a run, which may last for months. */
export class PlayedRounds {
  #rounds: RoundSummary[] = [];
  #before: CrawlSummary['totals'] | null = null;
  #done = 0;

  /** How many there are. */
  get done(): number {
    return this.#done;
  }

  add(round: RoundSummary): void {
    this.#done++;
    this.#rounds.push(round);
    if (this.#rounds.length < 2 * KEPT_ROUNDS) return;
    this.#before = this.#with(this.#rounds.slice(0, KEPT_ROUNDS));
    this.#rounds = this.#rounds.slice(KEPT_ROUNDS);
  }

  /** The latest rounds, and the totals of all. */
  summary(): Pick<CrawlSummary, 'rounds' | 'totals'> {
    return { rounds: this.#rounds, totals: this.#with(this.#rounds) };
  }

  #with(rounds: readonly RoundSummary[]): CrawlSummary['totals'] {
    return totalsOf(this.#before === null ? rounds : [this.#before, ...rounds]);
  }
}
