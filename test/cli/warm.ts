import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { BINARY, type Finished, type RunOptions } from './binary.ts';

/** How a command ended. Where it failed, the words of the error stand in `error`: what the program makes of them on stderr is not among this. */
export interface Answered extends Finished {
  readonly error: string | null;
}

let warm: Promise<ChildProcess> | null = null;
let last: Promise<unknown> = Promise.resolve();
afterAll(async () => {
  const child = await warm?.catch(() => null);
  if (!child?.connected) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
});

/** Not started before a test asks: it takes as long as a program. */
async function startWarm(): Promise<ChildProcess> {
  const main = pathToFileURL(realpathSync(BINARY));
  const files = ['program-for.js', 'exit.js'].map((name) => new URL(name, main).href);
  const child = fork(fileURLToPath(new URL('warm-program.mjs', import.meta.url)), files);
  await answerOf(child);
  return child;
}

/** The next message of the process; a process that ends has none. */
async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
    throw new Error(`the process of the commands ended with ${code}`);
  });
  try {
    return (await Promise.race([once(child, 'message', { signal: over.signal }), ended]))[0];
  } finally {
    over.abort();
  }
}

/**
 * Runs a command of the built program in a process that has loaded it already and runs all those of a test file, one after the other: starting the
 * program costs more than most commands. For what shows nowhere but in a process of its own (signals, the lock of the crawl db, what is told
 * of errors), and at least once for each command, tests start the program: `run`.
 */
export function warmRun(args: readonly string[], options: RunOptions = {}): Promise<Answered> {
  const answered = last.then(async () => {
    warm ??= startWarm();
    const child = await warm;
    const answer = answerOf(child);
    child.send({ args, ...options });
    return (await answer) as Answered;
  });
  last = answered.catch(() => {});
  return answered;
}

/** As `json`, by {@link warmRun}. */
export async function warmJson<Shape = Readonly<Record<string, unknown>>>(
  args: readonly string[],
  options: RunOptions & { readonly code?: number } = {},
): Promise<Shape> {
  const { code, stdout, stderr, error } = await warmRun([...args, '--json'], options);
  if (code === (options.code ?? 0)) return JSON.parse(stdout) as Shape;
  throw new Error(`incrawl ${args.join(' ')} ended with ${code}: ${error ?? stderr}\n${stdout}`);
}
