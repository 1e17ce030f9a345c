import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MutatedEnd } from './mutated-child.ts';
import { makeMutatedTree } from './mutated-tree.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const CHILD = ['dist', 'test', 'system', 'torture', 'simulation', 'mutations', 'mutated-child.js'];
/** Seeds that a mutation may take to be found. */
const SEEDS = 500;
/** Longer than the seeds take, ms. */
const LATE_MS = 900_000;

/**
 * Tries whether simulated crawls find each mutation; says at which seed they did, and what failed there. A mutation
 * that is not found is a failure.
 */
export async function tryMutations(say: (line: string) => void, seed: number): Promise<{ readonly failures: number }> {
  let failures = 0;
  for (const mutation of MUTATIONS) {
    const { failed } = await simulatedWith(mutation, seed, SEEDS);
    if (failed === null) {
      failures++;
      say(`NOT FOUND in ${SEEDS} seeds: ${mutation.name}`);
    } else say(`found at seed ${failed.seed}: ${mutation.name}: ${failed.fault.trim()}`);
  }
  say(`${MUTATIONS.length - failures} of ${MUTATIONS.length} mutations found by simulated crawls`);
  return { failures };
}

/** Simulates crawls of a number of seeds. Rejects where the process ends without an answer, with what it wrote. */
export async function simulatedWith(mutation: Mutation, seed: number, seeds: number): Promise<MutatedEnd> {
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-mutation-'));
  try {
    makeMutatedTree(mutation, folder);
    return await answerOf(mutation.name, join(folder, ...CHILD), [String(seed), String(seeds)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answerOf(name: string, file: string, args: readonly string[]): Promise<MutatedEnd> {
  const child = fork(file, args, {
    execArgv: ['--preserve-symlinks', '--preserve-symlinks-main'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const errors: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  let end: MutatedEnd | undefined;
  child.on('message', (message: MutatedEnd) => {
    end = message;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), LATE_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(late);
  if (end === undefined) throw new Error(`the process of "${name}" ended by ${signal ?? code}: ${errors.join('')}`);
  return end;
}
