import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { BINARY, type Finished, parsed, type RunOptions } from './binary.ts';

export interface FinishedStaying extends Finished {
  /** Standard output and standard error as they came. */
  readonly output: string;
}

const SCRIPT = fileURLToPath(new URL('staying-program.mjs', import.meta.url));
const GONE = 'the program that stays has ended';
const waiting = new Map<number, (finished: FinishedStaying) => void>();
let child: ChildProcess | null = null;
let count = 0;

afterAll(async () => {
  if (!child?.connected) return;
  // What it has open may lie in folders that are removed next; a command of a test that failed may still be at work.
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
});

function staying(): ChildProcess {
  if (child !== null) return child;
  // Its modules lie beside the file itself, which may be named by a link.
  child = fork(SCRIPT, [pathToFileURL(realpathSync(BINARY)).href], { execArgv: [] });
  child.on('message', ({ id, finished }: { id: number; finished: FinishedStaying }) => {
    waiting.get(id)?.(finished);
    waiting.delete(id);
  });
  child.on('exit', (code) => {
    child = null;
    for (const end of waiting.values()) end({ code, stdout: '', stderr: GONE, output: GONE });
    waiting.clear();
  });
  return child;
}

/**
 * As `run`, but without a start, which costs up to two seconds of CPU: one process for each test file runs the commands
 * of the built program, one after another. For what only prepares a test, and for further questions to a command that
 * has been started as a user starts it.
 */
export function runStaying(args: readonly string[], options: RunOptions = {}): Promise<FinishedStaying> {
  return new Promise<FinishedStaying>((resolve) => {
    const id = count++;
    waiting.set(id, resolve);
    staying().send({ id, args, ...options });
  });
}

/** Runs it in the process that stays; rejects unless it ends with 0. */
export async function prepare(args: readonly string[], options: RunOptions = {}): Promise<FinishedStaying> {
  const finished = await runStaying(args, options);
  if (finished.code === 0) return finished;
  throw new Error(`incrawl ${args.join(' ')} ended with ${finished.code}: ${finished.stderr}`);
}

/** As `json`, in the process that stays. */
export async function jsonStaying<Shape = Readonly<Record<string, unknown>>>(
  args: readonly string[],
  options: RunOptions & { readonly code?: number } = {},
): Promise<Shape> {
  return parsed<Shape>(args, await runStaying([...args, '--json'], options), options.code);
}
