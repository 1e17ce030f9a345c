import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measurement } from '../harness/measurement.ts';
import { CLI } from '../harness/places.ts';
import { AIM, stateFolder, urlOf } from './questions.ts';

const RUNS = 5;

const some = encodeURIComponent(urlOf(123_456));
const PAGES: readonly (readonly [what: string, path: string])[] = [
  ['overview', '/'],
  ['overview of a year', '/?span=1y'],
  ['rounds', '/rounds'],
  ['changes', '/changes'],
  ['due', '/due'],
  ['hosts', '/hosts'],
  ['pages of a host', '/pages?host=www1.large.example'],
  ['gone pages', '/pages?status=gone'],
  ['a URL', `/url?u=${some}`],
  ['metrics', '/metrics'],
];

/**
 * Time to the last byte of the pages of `incrawl serve` on the crawl db of a million URLs of `questions`, after a year
 * of rounds.
 */
export const liveView = measurement('crawldb', {}, async (bench) => {
  const dir = await stateFolder(bench);
  writeRounds(dir);
  const server = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--json', '--quiet', '--dir', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const line = await new Promise<string>((resolve) => server.stdout.once('data', (text) => resolve(String(text))));
    const { url } = JSON.parse(line) as { url: string };
    const ask = async (path: string): Promise<number> => {
      const startedAt = performance.now();
      const answer = await fetch(new URL(path, url));
      await answer.text();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      return performance.now() - startedAt;
    };
    const note = bench.question('The live view on 1 M URLs and a year of rounds');
    note('the first page, which opens the crawl db', await ask('/'), 'ms', AIM);
    for (const [what, path] of PAGES) {
      const before = await cpuSeconds(url);
      const times: number[] = [];
      for (let i = 0; i < RUNS; i++) times.push(await ask(path));
      note(`${what}, CPU`, ((await cpuSeconds(url)) - before) * (1_000 / RUNS), 'ms');
      note(what, Math.min(...times), 'ms', AIM);
    }
  } finally {
    server.kill('SIGTERM');
  }
});

/** A round each quarter of an hour. */
function writeRounds(dir: string): void {
  const [rounds, everyMs, now] = [35_000, 900_000, Date.now()];
  const counts = {
    generated: 1_604,
    fetched: 300,
    notModified: 1_102,
    skippedByHeaders: 40,
    unchanged: 204,
    modified: 188,
  };
  const others = { new: 31, gone: 9, redirected: 14, failed: 6, robotsDenied: 10, requests: 1_611, newUrls: 64 };
  const sizes = { bytesReceived: 14_680_064, bodyBytes: 14_000_000, outlinks: 2_222, ms: 824_000, cpuMs: 5_100 };
  const sums = { rounds, requests: 1, bytesReceived: 1, new: 1, modified: 1, unchanged: 1, gone: 1, failed: 1 };
  const db = { urls: 1_000_000, byStatus: { fetched: 600_000, notmodified: 400_000 }, hosts: 400, sums };
  const lines = Array.from({ length: rounds }, (_, i) => {
    const sample = { due: 1_204, overdue: 0, fresh: 0.95 - (i % 40) / 1_000, changesPerDay: 1_120.3, estimated: false };
    const at = new Date(now - (rounds - i) * everyMs).toISOString();
    return `${JSON.stringify({ version: 1, at, round: 1, segment: `${i}`, ...counts, ...others, ...sizes, ...db, sample })}\n`;
  });
  mkdirSync(join(dir, 'reports'), { recursive: true });
  writeFileSync(join(dir, 'reports', 'rounds.jsonl.1'), lines.slice(0, rounds / 2).join(''));
  writeFileSync(join(dir, 'reports', 'rounds.jsonl'), lines.slice(rounds / 2).join(''));
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^incrawl_serve_process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}
