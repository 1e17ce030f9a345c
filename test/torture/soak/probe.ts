/**
 * Loaded into a process by `--import`: writes one line of JSON a sample to the file in `SOAK_SAMPLES`, every
 * `SOAK_EVERY_MS`. Worker threads load it too, and do nothing.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { Sample } from './samples.ts';

const { SOAK_SAMPLES: file, SOAK_EVERY_MS: everyMs } = process.env;
if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(() => {
    // What is left after a collection is held; the rest depends on when V8 has last run one.
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo();
    const timers = resources.filter((name) => name === 'Timeout' || name === 'Immediate').length;
    const sample: Sample = {
      at: performance.now(),
      rss,
      anonymous:
        1_024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? rss / 1_024),
      heap: heapUsed,
      descriptors: readdirSync('/proc/self/fd').length,
      timers,
      handles: resources.length - timers,
    };
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
  }, Number(everyMs));
  timer.unref();
}
