import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { plotFile } from '../../../../bench/harness/line-plot.ts';
import { program, ROOT } from '../program.ts';
import { startManyHosts } from './many-hosts.ts';
import { type Sample, trends } from './samples.ts';
import { brief, soakPlots } from './soak-plot.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly hosts: number;
  /** Where the plot goes; absent: none is drawn. */
  readonly svg?: string | undefined;
  readonly seed: number;
}

const SAMPLES = 240;
const END_MS = 20_000;
const PROBE = join(ROOT, 'dist', 'test', 'system', 'torture', 'soak', 'probe.js');
const MAIN = join(ROOT, 'dist', 'src', 'cli', 'main.js');

/** Pages are due again within half a minute, so that the crawl goes on for as long as it is left alone. */
const SETTINGS = [
  'fetch.delay=0',
  'fetch.soft404=false',
  'schedule.interval=20s',
  'schedule.minInterval=15s',
  'schedule.maxInterval=30s',
  'schedule.retryInterval=15s',
  'schedule.maxRetryInterval=30s',
  'http.allowAddresses=["127.0.0.0/8"]',
].flatMap((setting) => ['-D', setting]);

/**
 * The built crawler under a schedule over many hosts whose pages change all the time: what it holds must be flat after
 * warm-up. At the end it is stopped, and its state verified. Its malloc has two pools, as in `deploy/`.
 */
export async function soak(
  say: (line: string) => void,
  { minutes, hosts, svg, seed }: SoakOptions,
): Promise<{ readonly failures: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-soak-'));
  const site = await startManyHosts(hosts, seed);
  const faults: string[] = [];
  try {
    const [seeds, file, dir] = ['seeds.txt', 'samples.jsonl', 'state'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(seeds, `${site.seeds.join('\n')}\n`);
    const everyMs = Math.max(500, Math.round((60_000 * minutes) / SAMPLES));
    const args = ['schedule', seeds, '--cron', '*/5 * * * * *', '--dir', dir, ...SETTINGS];
    const child = spawn(process.execPath, ['--import', PROBE, MAIN, ...args], {
      env: { ...process.env, MALLOC_ARENA_MAX: '2', SOAK_SAMPLES: file, SOAK_EVERY_MS: String(everyMs) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const errors: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors.push(text);
      if (errors.length > 200) errors.shift();
    });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const isOver = await Promise.race([ended.then(() => true), delay(60_000 * minutes, false, { ref: false })]);
    if (isOver) faults.push(`the crawler ended before its time: ${errors.join('').slice(-2_000)}`);
    else if (!(await stopped(child, ended))) faults.push(`it did not end within ${END_MS / 1_000} s of SIGTERM`);
    const samples = existsSync(file) ? samplesOf(file) : [];
    say(`soak  ${hosts} hosts, ${minutes} minutes: ${site.requests()} requests, ${samples.length} samples`);
    faults.push(...judged(say, samples));
    if (svg !== undefined && samples.length > 1)
      writeFileSync(svg, plotFile('What a crawl holds', soakPlots(samples, hosts)));
    const verified = await program(['state', 'verify', '--dir', dir], { withinMs: 600_000 });
    if (verified.code !== 0) faults.push(`verify ended with ${verified.code}: ${verified.stdout}${verified.stderr}`);
  } finally {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
  for (const fault of faults) say(`  FAILED: ${fault}`);
  return { failures: faults.length };
}

async function stopped(child: ReturnType<typeof spawn>, ended: Promise<unknown>): Promise<boolean> {
  child.kill('SIGTERM');
  const isInTime = await Promise.race([ended.then(() => true), delay(END_MS, false, { ref: false })]);
  if (!isInTime) child.kill('SIGKILL');
  await ended;
  return isInTime;
}

/** Names of what grew. */
function judged(say: (line: string) => void, samples: readonly Sample[]): string[] {
  if (samples.length < 12) return [`${samples.length} samples were taken: the run was too short`];
  return trends(samples).flatMap(({ series, early, late, isFlat }) => {
    const growth = early === 0 ? 0 : (100 * (late - early)) / early;
    const line = `${series.padEnd(12)} ${brief(series, early)} to ${brief(series, late)} after warm-up, ${growth.toFixed(1)} %`;
    say(`  ${line}`);
    return isFlat ? [] : [`it grows: ${line}`];
  });
}

const samplesOf = (file: string): Sample[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Sample);
