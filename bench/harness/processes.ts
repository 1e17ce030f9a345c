/** Child processes, and what they cost. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type MemoryByKind, memoryByKind, ownOf } from './mappings.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** CPU is user and system time of all threads, memory the peak. */
export interface Cost extends Ended {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Started extends Ended {
  /** What came on file descriptor 3. */
  readonly third: string;
}

/** @param watch is called with the number of the process, and what it gives is called at the end */
async function run(
  [program = '', ...args]: readonly string[],
  { cwd, env = {} }: ProcessOptions,
  watch: (pid: number) => () => void = () => () => {},
): Promise<Started> {
  const child = spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const texts = ['', '', ''];
  for (const [i, stream] of [child.stdout, child.stderr, child.stdio[3] as typeof child.stdout].entries())
    stream?.setEncoding('utf8').on('data', (text: string) => {
      texts[i] += text;
    });
  const stop = watch(child.pid ?? 0);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    const [stdout = '', stderr = '', third = ''] = texts;
    return { exitCode, stdout, stderr, third };
  } finally {
    stop();
  }
}

/** A module that writes what its process has cost to file descriptor 3 at exit. */
const METER = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeSync(3, userCPUTime + systemCPUTime + ' ' + maxRSS);
  });`)}`;

export interface NodeCost extends Cost {
  /** When the process held most, mapped files aside; all 0 where there is no `/proc`. */
  readonly peakByKind: MemoryByKind;
}

const KINDS_MS = 1_000;

/** Runs a program of Node to its end, and throws unless it ends with 0. */
export async function nodeCost(args: readonly string[], options: ProcessOptions = {}): Promise<NodeCost> {
  const startedAt = performance.now();
  let peakByKind = memoryByKind('');
  const { third, ...ended } = await run([process.execPath, '--import', METER, ...args], options, (pid) => {
    const sampling = setInterval(() => {
      const kinds = memoryByKind(textOf(`/proc/${pid}/smaps`));
      if (ownOf(kinds) > ownOf(peakByKind)) peakByKind = kinds;
    }, KINDS_MS);
    return () => clearInterval(sampling);
  });
  const ms = performance.now() - startedAt;
  if (ended.exitCode !== 0 || third === '')
    throw new Error(`${args.join(' ')} ended with ${ended.exitCode}: ${ended.stderr.slice(-2_000)}`);
  const [us = 0, kb = 0] = third.split(' ').map(Number);
  return { ...ended, ms, cpuMs: us / 1_000, peakMb: kb / 1_024, peakByKind };
}

export interface TreeCost extends Cost {
  /** Browsers that were started. */
  readonly browsers: number;
}

const SAMPLE_MS = 50;
/** A tick of the kernel, ms: `USER_HZ` is 100 on Linux. */
const TICK_MS = 10;
/** The shell runs the program, and then prints its own times and those of its children. */
const SCRIPT = '"$@"; code=$?; times >&3; exit $code';

/**
 * Runs any program to its end. Memory is the peak of a process alone, or the largest sum over processes that ran at
 * once, what they share shared out among them; 0 where there is no `/proc`. Of a browser, whose processes wait for none
 * of theirs, CPU is what was last seen.
 */
export async function treeCost(command: readonly string[], options: ProcessOptions = {}): Promise<TreeCost> {
  const ticks = new Map<number, number>();
  const browsers = new Set<number>();
  let peakKb = 0;
  const startedAt = performance.now();
  const { third, ...ended } = await run(['/bin/sh', '-c', SCRIPT, 'sh', ...command], options, (shell) => {
    const sampling = setInterval(() => {
      let kb = 0;
      const pids = below(shell);
      for (const pid of pids) {
        ticks.set(pid, Math.max(ticks.get(pid) ?? 0, ticksOf(pid)));
        kb += pids.length === 1 ? kbOf(pid, 'status', 'VmHWM') : kbOf(pid, 'smaps_rollup', 'Pss');
        if (isBrowser(pid)) browsers.add(pid);
      }
      peakKb = Math.max(peakKb, kb);
    }, SAMPLE_MS);
    return () => clearInterval(sampling);
  });
  const ms = performance.now() - startedAt;
  const seenMs = TICK_MS * [...ticks.values()].reduce((all, each) => all + each, 0);
  const cpuMs = Math.max(childrenMs(third), seenMs);
  return { ...ended, ms, cpuMs, peakMb: peakKb / 1_024, browsers: browsers.size };
}

/** The second line of `times` is that of the children: `0m1.250000s 0m0.130000s`. */
function childrenMs(times: string): number {
  const spans = [...(times.trim().split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new Error(`times of the shell: expected two lines of two times, got ${times}`);
  return spans.reduce((all, [, minutes, seconds]) => all + (Number(minutes) * 60 + Number(seconds)) * 1_000, 0);
}

/** A field of a file of `/proc`, kB; 0 when the process has ended, and where there is no such file. */
export const kbOf = (pid: number, file: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(textOf(`/proc/${pid}/${file}`))?.[1] ?? 0);

/** Processes below one. */
function below(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}

/** Fields 14 and 15 of proc(5) stat; the name before them may have blanks. */
function ticksOf(pid: number): number {
  const fields = textOf(`/proc/${pid}/stat`).split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return fields.reduce((all, each) => all + each, 0);
}

/** The first process of a browser, which the others belong to. */
function isBrowser(pid: number): boolean {
  const words = textOf(`/proc/${pid}/cmdline`);
  return words.includes('--user-data-dir=') && !words.includes('--type=');
}

/** Empty when the process has just ended, and where there is no such file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
