import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/crawler/index.ts';

/** The checkout, from its sources as from what is built of them. */
export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));
export const BINARY = join(ROOT, 'dist', 'src', 'cli', 'main.js');

export interface Ended {
  /** Absent when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It did not end by itself in the time given. */
  readonly isLate: boolean;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a minute. */
  readonly withinMs?: number;
}

/** Runs the built command to its end, or to that of its time. */
export function program(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const { env = {}, withinMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BINARY, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: string[] = [];
    const err: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, withinMs);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: out.join(''), stderr: err.join(''), isLate });
    });
  });
}

/**
 * Output of a command that is run in this process, without the start of another; rejects unless it ends with 0. For
 * what prepares an attempt, and for the questions about what it left.
 */
export async function asked(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await answered(args, input);
  if (code === 0) return stdout;
  throw new Error(`incrawl ${args.join(' ')} ended with ${code}: ${stderr}`);
}

/** As `asked`, with any exit code. @param clock default: that of the machine */
export async function answered(
  args: readonly string[],
  input = '',
  clock?: Clock,
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const { runCommand } = await import(join(ROOT, 'dist/src/cli/program/run-command.js'));
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const surroundings = {
    argv: args,
    env: { ...process.env },
    stdin: () => Readable.from([Buffer.from(input)]),
    stdout: keeper(out),
    stderr: keeper(err),
    stops: { listen: () => () => {}, endAtOnce: () => {} },
    ...(clock !== undefined && { clock }),
  };
  const code: number = await runCommand(surroundings, (error: unknown) => err.push(Buffer.from(String(error))));
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

function keeper(kept: Buffer[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, next) {
      kept.push(chunk);
      next();
    },
  });
}

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));
}
