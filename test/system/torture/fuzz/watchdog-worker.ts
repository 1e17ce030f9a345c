import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { Watched } from './watchdog.ts';

const { state, targets, lateMs } = workerData as Watched;
const STDOUT = 1;
let known = -1;
let since = performance.now();

setInterval(() => {
  const begun = Atomics.load(state, 0);
  const number = Atomics.load(state, 2);
  if (begun !== known || number < 0) {
    known = begun;
    since = performance.now();
    return;
  }
  const ms = performance.now() - since;
  if (ms < lateMs) return;
  const name = targets[Atomics.load(state, 1)];
  const replay = `npm run torture -- --fuzz --target ${name} --seed ${number}`;
  writeSync(STDOUT, `FAILED ${name}: the check has not ended after ${Math.round(ms / 1_000)} s\n  ${replay}\n`);
  // The thread that hangs hears no softer signal.
  process.kill(process.pid, 'SIGKILL');
}, lateMs / 10);
