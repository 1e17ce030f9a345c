/** Cost of writing the change feed and the report of skipped URLs, and of the commands that read them. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelCrawlDb } from '../../src/adapters/leveldb/crawl-db.ts';
import { type PageChange, pageChange } from '../../src/domain/crawl/change/page-change.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import type { CrawlDbPut } from '../../src/ports/crawl-db.ts';
import { SkipNotes } from '../../src/steps/counters/outcome-counts.ts';
import { noted } from '../../src/steps/facts/change-feed.ts';
import { AIM_MS, cli, stateFolder, urlOf } from '../questions/questions.ts';

const ENTRIES = 1_000_000;
const FRESH = 20_000;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
type Say = (text: string) => void;

function changeOf(n: number, at: number): PageChange {
  const facts = { state: 'fetched', status: 200, target: null, title: `Page ${n} of a site with a title` } as const;
  return { kind: 'modified', url: urlOf(n), at, distance: n % 40, ...facts };
}

function cpuUs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

/** CPU of writing visits with and without their changes, in chunks of the size of updatedb. */
async function benchWriting(say: Say): Promise<void> {
  const pages = 100_000;
  const now = Date.now();
  const costs: number[] = [];
  for (const isReported of [false, true, false, true]) {
    const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-changes-'));
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log });
    let spent = 0;
    for (let start = 0; start < pages; start += 500) {
      const puts = Array.from({ length: 500 }, (_, i): CrawlDbPut => {
        const fresh = newDatum({ url: urlOf(start + i), now, intervalMs: DAY_MS });
        const datum = {
          ...fresh,
          state: 'fetched',
          lastFetchAt: now,
          digest: '0'.repeat(32),
          title: `Page ${i}`,
        } as const;
        return { datum, previous: null };
      });
      const before = process.cpuUsage();
      const changes = isReported
        ? puts.flatMap(({ datum }) => pageChange({ ...datum, digest: null, state: 'unfetched' }, datum, now) ?? [])
        : [];
      await db.write({ puts, ...noted(changes, now) });
      spent += cpuUs(before);
    }
    await db.close();
    rmSync(dir, { recursive: true, force: true });
    costs.push(spent / pages);
  }
  const [without, withFeed] = [Math.min(costs[0]!, costs[2]!), Math.min(costs[1]!, costs[3]!)];
  say(`a page written ${without.toFixed(1)} us CPU, with its change ${withFeed.toFixed(1)} us`);
}

function benchNotes(say: Say): void {
  const links = 1_000_000;
  const notes = new SkipNotes(1_000);
  const before = process.cpuUsage();
  for (let i = 0; i < links; i++) {
    const url = `https://elsewhere${i % 50_000}.example/`;
    notes.note({ url, reason: 'url-filtered', by: 'urlfilter-scope', detail: 'host not in scope', from: null });
  }
  say(`a link that is not let in noted ${(cpuUs(before) / links).toFixed(2)} us CPU, its making included`);
}

/**
 * A feed of a million entries, of which twenty thousand are fresh, beside a million records; a full report of skipped
 * URLs.
 */
async function prepared(say: Say): Promise<string> {
  const dir = await stateFolder(say);
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log });
  const now = Date.now();
  const add = async (count: number, notedAt: number): Promise<void> => {
    for (let start = 0; start < count; start += 500) {
      const changes = Array.from({ length: 500 }, (_, i) => changeOf(start + i, notedAt));
      await db.write({ feed: { add: { notedAt, changes } } });
    }
  };
  if ((await db.feedEnds()).last < ENTRIES - FRESH) await add(ENTRIES - FRESH, now - 3 * DAY_MS);
  const [fresh] = [await countFrom(db.changes({ notedFrom: now - DAY_MS }))];
  if (fresh < FRESH) await add(FRESH - fresh, now - HOUR_MS);
  await db.close();
  mkdirSync(join(dir, 'reports'), { recursive: true });
  const about = { version: 1, at: new Date(now).toISOString(), step: 'updatedb', segment: 's1', by: null, from: null };
  const lines = Array.from({ length: 60_000 }, (_, n) =>
    JSON.stringify({
      ...about,
      url: urlOf(n),
      reason: n % 2 ? 'robots-denied' : 'dns-failed',
      detail: 'a reason of some length',
    }),
  );
  for (const name of ['skipped.jsonl', 'skipped.jsonl.1']) {
    writeFileSync(join(dir, 'reports', name), `${lines.join('\n')}\n`);
  }
  return dir;
}

async function countFrom(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of rows) count++;
  return count;
}

export async function benchChanges(say: Say, verdict: (isGood: boolean, text: string) => void): Promise<void> {
  await benchWriting(say);
  benchNotes(say);
  const dir = await prepared(say);
  const node = bestCpuMs(['-e', '0']).cpuMs;
  const questions: readonly (readonly [what: string, args: readonly string[]])[] = [
    ['what changed since yesterday, the first 100', ['changes', '--since', 'yesterday', '--limit', '100']],
    ['the newest 50 changes', ['changes']],
    ['why a URL was skipped, by the reports', ['skipped', '--url', urlOf(30_001)]],
    ['why a URL is skipped, in full', ['explain', urlOf(30_001)]],
  ];
  for (const [what, args] of questions) {
    const { cpuMs, lines } = bestCpuMs([cli, ...args, '--dir', dir]);
    const beyond = cpuMs - node;
    verdict(
      beyond <= AIM_MS,
      `${what}: ${beyond.toFixed(0)} ms CPU beyond node's start (${node.toFixed(0)}) <= ${AIM_MS} ms; ${lines} lines`,
    );
  }
  const { cpuMs, lines } = bestCpuMs([cli, 'changes', '--since', 'yesterday', '--format', 'jsonl', '--dir', dir]);
  const perLine = ((cpuMs - node - AIM_MS) * 1_000) / lines;
  verdict(
    perLine <= 10,
    `all since yesterday as JSON lines: ${lines} lines, ${perLine.toFixed(1)} us CPU a line <= 10 beyond ${AIM_MS} ms`,
  );
}

/** A module that writes the CPU of its process to file descriptor 3 at exit. */
const REPORT_CPU = `data:text/javascript,${encodeURIComponent(
  "import{writeSync}from'node:fs';process.on('exit',()=>writeSync(3,JSON.stringify(process.cpuUsage())))",
)}`;

/** The cheapest of five runs. CPU, not time: on a shared machine, time measures the other processes as well. */
function bestCpuMs(args: readonly string[]): { cpuMs: number; lines: number } {
  const runs = Array.from({ length: 5 }, () => {
    const child = spawnSync(process.execPath, ['--import', REPORT_CPU, ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    if (child.status !== 0) throw new Error(`${args.join(' ')}: exit code ${child.status}\n${child.stderr}`);
    const { user, system } = JSON.parse(String(child.output[3])) as NodeJS.CpuUsage;
    return { cpuMs: (user + system) / 1_000, lines: child.stdout.trimEnd().split('\n').length };
  });
  return runs.reduce((a, b) => (b.cpuMs < a.cpuMs ? b : a));
}
