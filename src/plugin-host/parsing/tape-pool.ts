import { Tape } from '../../domain/page/tape/tape.ts';

/** One is for the page as it came, the other for its DOM once a plugin has asked for that. */
const KEPT = 2;

/** Tapes of a thread, reused from page to page. Two pages never share one. */
export class TapePool {
  private readonly free: Tape[] = [];

  take(): Tape {
    return this.free.pop() ?? new Tape();
  }

  giveBack(tape: Tape): void {
    if (this.free.length < KEPT) this.free.push(tape);
  }
}
