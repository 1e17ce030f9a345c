import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What a program and all processes below it cost, a browser with its many processes included; Linux only. */
export interface TreeCost {
  readonly ms: number;
  /** User and system time, as last seen of each process. */
  readonly cpuMs: number;
  /** Largest sum of the memory of processes that ran at the same time; what they share is shared out among them. */
  readonly peakPssMb: number;
  /** Processes of browsers started. */
  readonly browsers: number;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const SAMPLE_MS = 100;
/** A kernel's tick, ms: `USER_HZ` is 100 on Linux. */
const TICK_MS = 10;

export async function treeCost(command: readonly string[], cwd: string): Promise<TreeCost> {
  const [program = '', ...args] = command;
  const startedAt = performance.now();
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ticks = new Map<number, number>();
  const browsers = new Set<number>();
  let peakKb = 0;
  const sampling = setInterval(() => {
    let kb = 0;
    for (const pid of tree(child.pid ?? 0)) {
      ticks.set(pid, Math.max(ticks.get(pid) ?? 0, ticksOf(pid)));
      kb += pssOf(pid);
      if (!browsers.has(pid) && isBrowser(pid)) browsers.add(pid);
    }
    peakKb = Math.max(peakKb, kb);
  }, SAMPLE_MS);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2_000);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  clearInterval(sampling);
  const ms = performance.now() - startedAt;
  const cpuMs = TICK_MS * [...ticks.values()].reduce((sum, each) => sum + each, 0);
  return { ms, cpuMs, peakPssMb: peakKb / 1_024, browsers: browsers.size, exitCode, stdout, stderr };
}

/** A process and all below it. */
function tree(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(tree)];
}

/** Fields 14 and 15 of proc(5) stat; the name before them may have blanks. */
function ticksOf(pid: number): number {
  const [user = 0, system = 0] = textOf(`/proc/${pid}/stat`).split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return user + system;
}

const pssOf = (pid: number): number => Number(/^Pss:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);

/** The first process of a browser, which the others belong to. */
function isBrowser(pid: number): boolean {
  const words = textOf(`/proc/${pid}/cmdline`);
  return words.includes('--user-data-dir=') && !words.includes('--type=');
}

/** Empty when the process has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
