import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What a program and all processes that it started cost, from its start to its end. */
export interface ProcessCost {
  readonly ms: number;
  /** User and system time. */
  readonly cpuMs: number;
  /** The largest sum of the peaks of processes that ran at the same time; null where there is no `/proc`. */
  readonly peakRssMb: number | null;
  readonly exitCode: number | null;
  /** The last of what it wrote to stderr. */
  readonly stderr: string;
}

const SAMPLE_MS = 50;
const STDERR_CHARS = 2_000;

/** The shell runs the program, and then prints its own times and those of its children. */
const SCRIPT = '"$@" >/dev/null; code=$?; times >&3; exit $code';

export async function costOf(command: readonly string[], cwd: string): Promise<ProcessCost> {
  const startedAt = performance.now();
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...command], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let peakKb: number | null = null;
  const sampling = setInterval(() => {
    const kb = peakBelow(shell.pid ?? 0);
    if (kb !== null) peakKb = Math.max(peakKb ?? 0, kb);
  }, SAMPLE_MS);
  let times = '';
  let stderr = '';
  shell.stdio[3]?.on('data', (chunk) => {
    times += chunk;
  });
  shell.stderr?.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-STDERR_CHARS);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    shell.on('error', reject);
    shell.on('close', resolve);
  });
  clearInterval(sampling);
  const ms = performance.now() - startedAt;
  return { ms, cpuMs: childrenMs(times), peakRssMb: peakKb === null ? null : peakKb / 1_024, exitCode, stderr };
}

/** The second line of `times` is that of the children: `0m1.250000s 0m0.130000s`. */
function childrenMs(times: string): number {
  const line = times.trim().split('\n')[1] ?? '';
  const spans = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new Error(`times of the shell: expected two lines of two times, got ${times}`);
  return spans.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1_000, 0);
}

/** Sum of the peaks of all processes below one, kB; null where there is no `/proc`. */
function peakBelow(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.reduce((sum, child) => sum + peakOf(child) + (peakBelow(child) ?? 0), 0);
}

const peakOf = (pid: number): number => Number(/^VmHWM:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);

/** Empty when the process has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
