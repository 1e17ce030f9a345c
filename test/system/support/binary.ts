import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const BINARY =
  process.env.INCRAWL_BIN ?? fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly cwd?: string;
  /** `null`: stdin stays open. */
  readonly input?: string | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the built program; it does not outlive the test. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [BINARY, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  if (options.input !== null) child.stdin.end(options.input ?? '');
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, finished };
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return start(args, options).finished;
}

/** Runs with `--json`, expects the exit code, gives back stdout parsed; the shape is a promise of the contract. */
export async function json<Shape = Readonly<Record<string, unknown>>>(
  args: readonly string[],
  options: RunOptions & { readonly code?: number } = {},
): Promise<Shape> {
  return parsed<Shape>(args, await run([...args, '--json'], options), options.code);
}

/** The answer of a command with `--json`; throws on an unexpected exit code. */
export function parsed<Shape>(args: readonly string[], { code, stdout, stderr }: Finished, expected = 0): Shape {
  if (code === expected) return JSON.parse(stdout) as Shape;
  throw new Error(`incrawl ${args.join(' ')} ended with ${code}: ${stderr}\n${stdout}`);
}
