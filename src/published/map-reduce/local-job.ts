import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { murmur3 } from '../../page/near/hashes.ts';
import { ownFolder } from '../../store/files/locks/folder-lock.ts';
import { linesOfFile, mergeSorted } from '../../store/files/sorting/external-sort.ts';
import { reducePart } from './job.ts';
import { MAP_REDUCE_JOBS } from './jobs.ts';

export interface LocalJobOptions {
  /** Folder for temporary files; made when needed. Its files are removed at the end. */
  readonly dir: string;
  /** Maximum worker threads; default: as many as the machine runs at once, up to 4. */
  readonly threads?: number;
  /** Number of mapped lines from which threads are used. */
  readonly threadsFrom?: number;
  /** File of the worker thread; default: `reduce-worker`. */
  readonly worker?: string;
}

const MOST_THREADS = 4;
/** Parts per thread, so that one large key does not leave the others idle. */
const PARTS_PER_THREAD = 4;
/** Attempts at a part whose thread dies: the part itself may be the cause. */
const TRIES = 3;

/**
 * Runs a job as Hadoop Streaming would: mapped lines are partitioned by key, each part is sorted in files and reduced
 * on a worker thread. For a reducer whose lines begin with the key, the output is that of one sorted run, whatever the
 * number of threads.
 */
export async function* localJob(
  name: string,
  lines: AsyncIterable<string>,
  options: LocalJobOptions,
): AsyncGenerator<string, void, undefined> {
  const { dir, threads = Math.min(availableParallelism(), MOST_THREADS), threadsFrom = 50_000 } = options;
  const job = MAP_REDUCE_JOBS[name];
  if (job === undefined) throw new TypeError(`there is no map/reduce job ${name}`);
  await mkdir(dir, { recursive: true });
  const folder = ownFolder(dir, 'job');
  try {
    const parts = Array.from({ length: PARTS_PER_THREAD * threads }, (_, i) => join(folder, `part-${i}`));
    const mapped = await writeParts(job.map(lines), parts);
    const tasks = parts.map((part) => ({ job: name, part, out: `${part}.out`, dir: folder }));
    if (threads > 1 && mapped >= threadsFrom) {
      // All threads from the start: a part that waits for a thread that fails to start would wait for ever.
      const pool = new Piscina({
        filename: options.worker ?? workerFile(),
        minThreads: threads,
        maxThreads: threads,
      });
      try {
        const here = ({ part, out }: (typeof tasks)[number]) => reducePart(job, part, out, folder);
        await Promise.all(tasks.map((task) => reducedBy(pool, task, () => here(task))));
      } finally {
        await pool.destroy();
      }
    } else for (const { part, out } of tasks) await reducePart(job, part, out, folder);
    yield* mergeSorted(
      tasks.map(({ out }) => linesOfFile(out)),
      byKey,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Every attempt writes the whole part again, so a half-written one does no harm.
 * @param here does the work in this thread if the system allows no other
 */
async function reducedBy(pool: Piscina, task: object, here: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await pool.run(task);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_INIT_FAILED') return here();
      if (tries >= TRIES || !isThreadDead(error)) throw error;
    }
  }
}

/** Whether the thread itself has ended, by its memory limit or by code that ran in it. */
function isThreadDead(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === 'ERR_WORKER_OUT_OF_MEMORY' || /^worker exited with code/.test(message ?? '');
}

const keyOf = (line: string): string => line.slice(0, line.indexOf('\t'));

/** Lines of one key come from one part, in their order. */
function byKey(a: string, b: string): number {
  const [left, right] = [keyOf(a), keyOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

async function writeParts(mapped: AsyncIterable<string>, parts: readonly string[]): Promise<number> {
  const files: WriteStream[] = parts.map((part) => createWriteStream(part));
  let lines = 0;
  try {
    for await (const line of mapped) {
      lines++;
      const file = files[murmur3(keyOf(line)) % files.length]!;
      if (!file.write(`${line}\n`)) await once(file, 'drain');
    }
  } finally {
    await Promise.all(
      files.map(async (file) => {
        file.end();
        await finished(file);
      }),
    );
  }
  return lines;
}

function workerFile(): string {
  const compiled = import.meta.url.endsWith('.ts')
    ? '../../../dist/src/published/map-reduce/reduce-worker.js'
    : './reduce-worker.js';
  return fileURLToPath(new URL(compiled, import.meta.url));
}
