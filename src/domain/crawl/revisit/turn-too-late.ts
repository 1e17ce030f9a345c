/** The next turn of a host lies later than a caller waits for. */
export class TurnTooLate extends Error {
  readonly host: string;
  /** Earliest time of the turn, ms since the epoch. */
  readonly at: number;

  constructor(host: string, at: number) {
    super(`${host} must not be contacted before ${new Date(at).toISOString()}`);
    this.name = 'TurnTooLate';
    this.host = host;
    this.at = at;
  }
}
