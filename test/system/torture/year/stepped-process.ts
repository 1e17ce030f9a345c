import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../program.ts';
import type { Sleep, Wake } from './stepped-clock.ts';

const CHILD = join(ROOT, 'dist', 'test', 'system', 'torture', 'year', 'year-child.js');
/** Lines of the log that are kept for a report. */
const KEPT = 40;

/** The scheduler in a process of its own, by a clock that `onSleep` moves on. */
export class SteppedProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #errors: string[] = [];
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  /** @param onSleep resolves when time may go on */
  constructor(args: readonly string[], now: number, onSleep: (sleep: Sleep) => Promise<Wake>) {
    const child = fork(CHILD, args, {
      env: { ...process.env, YEAR_NOW: String(now), MALLOC_ARENA_MAX: '2' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.pid = child.pid ?? 0;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors.push(text);
      if (this.#errors.length > KEPT) this.#errors.shift();
    });
    this.ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    child.on('message', (sleep: Sleep) => {
      void onSleep(sleep).then((wake) => {
        if (child.connected) child.send(wake, () => {});
      });
    });
  }

  get errors(): string {
    return this.#errors.join('');
  }

  /** SIGTERM ends it in order, SIGKILL at once. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#child.kill(signal);
    await this.ended;
  }
}
