/** CPU a page and peak memory of `incrawl work` on a shared store, in turn with `incrawl crawl` on LevelDB. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '../seeded.ts';

const HOSTS = 24;
const LINKS = 12;
const WORDS = 400;
/** Appends CPU time, us, and peak memory, KB, of a process to a file when it ends. */
const METER = [
  `if (require('worker_threads').isMainThread) process.on('exit', () => {`,
  '  const used = process.resourceUsage();',
  `  const line = (used.userCPUTime + used.systemCPUTime) + ' ' + used.maxRSS + '\\n';`,
  `  require('fs').appendFileSync(process.env.METER_FILE, line);`,
  '});',
].join('\n');

export interface Run {
  readonly what: string;
  readonly workers: number;
  readonly args: readonly string[];
}

/** @param store URL of a PostgreSQL */
export async function benchWorkers(
  say: (text: string) => void,
  { store, pages, rounds }: { readonly store: string; readonly pages: number; readonly rounds: number },
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-workers-'));
  const site = await startSite(pages);
  try {
    const seeds = join(dir, 'seeds.txt');
    writeFileSync(seeds, site.origins.map((origin) => `${origin}/0\n`).join(''));
    const shared = (workers: number, partitions: number): Run => {
      const args = ['-D', `cluster.store=${store}`, '-D', `cluster.partitions=${partitions}`];
      return { what: `${workers} of work, ${partitions} partitions`, workers, args };
    };
    const runs = [{ what: 'crawl', workers: 0, args: [] }, ...[1, 16, 64].map((n) => shared(1, n)), shared(3, 16)];
    const best = new Map<string, { cpuMs: number; memoryMb: number }>();
    for (let round = 0; round < rounds; round++) {
      for (const run of runs) {
        const name = `bench-${process.pid}-${Date.now()}`;
        const { cpuMs, memoryMb, fetched } = await measured(run, { dir: join(dir, name), name, seeds });
        const each = cpuMs / fetched;
        say(`${run.what}: ${fetched} pages, ${each.toFixed(2)} ms CPU each, ${Math.round(memoryMb)} MB at most`);
        const known = best.get(run.what);
        if (known === undefined || each < known.cpuMs) best.set(run.what, { cpuMs: each, memoryMb });
      }
    }
    const alone = best.get('crawl')?.cpuMs ?? Number.NaN;
    for (const [what, { cpuMs, memoryMb }] of best)
      say(
        `best of ${rounds}: ${what}: ${cpuMs.toFixed(2)} ms, ${(cpuMs / alone).toFixed(2)} x, ${memoryMb.toFixed(0)} MB`,
      );
  } finally {
    site.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface MeasuredPlace {
  readonly dir: string;
  /** Of the crawl in the store. */
  readonly name: string;
  /** File with seeds. */
  readonly seeds: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Measured {
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly fetched: number;
  readonly rounds: number;
}

export async function measured(
  { workers, args }: Run,
  { dir, name, seeds, env = {} }: MeasuredPlace,
): Promise<Measured> {
  const meter = `${dir}.meter`;
  const command = workers === 0 ? 'crawl' : 'work';
  const common = ['--dir', dir, '--json', '--quiet', '--allow', '127.0.0.1', '--delay', '0', ...args];
  const named = workers === 0 ? [] : ['-D', `cluster.name=${name}`];
  const start = async (own: readonly string[]): Promise<Pick<Measured, 'fetched' | 'rounds'>> => {
    const binary = ['--require', `${dir}.cjs`, 'dist/src/cli/main.js', command, ...own, ...common, ...named];
    const child = spawn(process.execPath, binary, {
      env: { ...process.env, ...env, METER_FILE: meter },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    await once(child, 'close');
    const { totals, rounds } = JSON.parse(text) as { totals: { fetched: number }; rounds: unknown[] };
    return { fetched: totals.fetched, rounds: rounds.length };
  };
  writeFileSync(`${dir}.cjs`, METER);
  const first = start([seeds]);
  const others: ReturnType<typeof start>[] = [];
  for (let i = 1; i < workers; i++) {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    others.push(start([]));
  }
  const ends = await Promise.all([first, ...others]);
  const lines = readFileSync(meter, 'utf8').trim().split('\n');
  const used = lines.map((line) => line.split(' ').map(Number) as [number, number]);
  return {
    cpuMs: used.reduce((sum, [us]) => sum + us, 0) / 1_000,
    memoryMb: Math.max(...used.map(([, kb]) => kb)) / 1_024,
    fetched: ends.reduce((sum, each) => sum + each.fetched, 0),
    rounds: ends.reduce((sum, each) => sum + each.rounds, 0),
  };
}

/** Pages of several hosts that link to each other. */
export async function startSite(pages: number): Promise<{ readonly origins: readonly string[]; close(): void }> {
  const pagesPerHost = Math.ceil(pages / HOSTS);
  const servers: Server[] = [];
  const origins: string[] = [];
  for (let host = 0; host < HOSTS; host++) {
    const server = createServer((request, response) => {
      const page = Number(request.url?.slice(1));
      response.setHeader('content-type', 'text/html');
      if (!Number.isInteger(page)) return void response.writeHead(404).end();
      const random = seeded(host * 1_000_003 + page);
      const word = (): string => `word${Math.floor(random() * 5_000)}`;
      const link = (i: number): string => {
        const to = i === 0 ? (page + 1) % pagesPerHost : Math.floor(random() * pagesPerHost);
        return `<a href="${origins[i < LINKS / 2 ? host : Math.floor(random() * HOSTS)]}/${to}">${word()}</a>`;
      };
      const text = Array.from({ length: WORDS }, word).join(' ');
      const links = Array.from({ length: LINKS }, (_, i) => link(i)).join(' ');
      response.end(`<html lang="en"><title>${word()} ${page}</title><p>${text}</p>${links}</html>`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return {
    origins,
    close() {
      for (const server of servers) server.closeAllConnections();
      for (const server of servers) server.close();
    },
  };
}
