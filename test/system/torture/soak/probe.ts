/**
 * Loaded into a process by `--import`: writes one line of JSON a sample to the file in `SOAK_SAMPLES`, every
 * `SOAK_EVERY_MS`. Worker threads load it too: they collect at the same pace between their tasks, and
 * tell the main thread what they hold.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';
import type { Sample } from './samples.ts';

const CHANNEL = 'soak';
/** Samples. */
const HEARD_WITHIN = 10;

/** Of one thread. */
interface Held {
  readonly thread: number;
  readonly bytes: number;
}

const { SOAK_SAMPLES: file, SOAK_EVERY_MS: everyMs } = process.env;
if (file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What is left after a collection is held; the rest depends on when V8 has last run one.
  const held = (): NodeJS.MemoryUsage => {
    collect();
    return process.memoryUsage();
  };
  if (isMainThread) sampleEvery(Number(everyMs));
  else collectBetweenTasks(Number(everyMs));

  function sampleEvery(ms: number): void {
    const byThread = new Map<number, { readonly bytes: number; readonly at: number }>();
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = (event) => {
      const { thread, bytes } = (event as { readonly data: Held }).data;
      byThread.set(thread, { bytes, at: performance.now() });
    };
    channel.unref();
    const timer = setInterval(() => {
      const { rss, heapUsed } = held();
      const resources = process.getActiveResourcesInfo();
      const timers = resources.filter((name) => name === 'Timeout' || name === 'Immediate').length;
      const sample: Sample = {
        at: performance.now(),
        rss,
        anonymous:
          1_024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? rss / 1_024),
        heap: heapUsed,
        threads: heldNow(ms),
        descriptors: readdirSync('/proc/self/fd').length,
        timers,
        handles: resources.length - timers,
      };
      appendFileSync(file!, `${JSON.stringify(sample)}\n`);
    }, ms);
    timer.unref();

    /** A thread that has not been heard of for long has ended. */
    function heldNow(everyMs: number): number {
      const since = performance.now() - HEARD_WITHIN * everyMs;
      for (const [thread, { at }] of byThread) if (at < since) byThread.delete(thread);
      return [...byThread.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    }
  }

  /** A thread of the pool sleeps in `Atomics.wait` between its tasks; no timer of it fires. */
  function collectBetweenTasks(ms: number): void {
    const wait = Atomics.wait;
    let next = performance.now() + ms;
    Atomics.wait = ((...args: Parameters<typeof wait>) => {
      if (performance.now() >= next) {
        next = performance.now() + ms;
        // Opened for the message only: what others say would be kept for a thread that never reads it.
        const channel = new BroadcastChannel(CHANNEL);
        channel.postMessage({ thread: threadId, bytes: held().heapUsed } satisfies Held);
        channel.close();
      }
      return wait(...args);
    }) as typeof wait;
  }
}
