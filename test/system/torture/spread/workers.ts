import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { BINARY, type Ended } from '../program.ts';

/** Where Debian's package `libfaketime` puts it. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** Whether a worker can be given another clock. */
export const HAS_FAKETIME: boolean = existsSync(FAKETIME);

/** The environment of a process whose clock is ahead. Durations are not changed: they are by the monotonic clock. */
export const clockAhead = (minutes: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME: `+${minutes}m`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

export interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<Omit<Ended, 'isLate'>>;
  isOver: boolean;
}

/** Starts `incrawl work`. */
export function startWorker(args: readonly string[], env: Readonly<Record<string, string>> = {}): Worker {
  const child = spawn(process.execPath, [BINARY, 'work', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
  const ended = new Promise<Omit<Ended, 'isLate'>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      worker.isOver = true;
      resolve({ code, signal, stdout: out.join(''), stderr: err.join('') });
    });
  });
  const worker: Worker = { child, ended, isOver: false };
  return worker;
}
