import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTurn, sum } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { CLI, serve, withFolder } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';
import { seeded } from '../harness/seeded.ts';

const HOSTS = 24;
const LINKS = 12;
const WORDS = 400;

export interface Run {
  readonly what: string;
  /** 0: `crawl` on LevelDB. */
  readonly workers: number;
  readonly args: readonly string[];
}

export interface WorkersCost {
  readonly cpuMs: number;
  readonly peakMb: number;
  readonly fetched: number;
  readonly rounds: number;
}

/** Keys of the configuration as options of a command. */
export const defined = (keys: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(keys).flatMap(([key, value]) => ['-D', `${key}=${value}`]);

const OPTIONS = { store: 'postgres://127.0.0.1/bench', pages: 12_000, rounds: 2 };

/** CPU a page and peak memory of `incrawl work` on a shared store, in turn with `incrawl crawl` on LevelDB. */
export const workers = measurement('cluster', OPTIONS, ({ question }, { store, pages, rounds }) =>
  withSeeds(pages, async (dir, seeds) => {
    const shared = (count: number, partitions: number): Run => ({
      what: `${count === 1 ? 'one worker' : 'three workers'}, ${partitions === 1 ? '1 partition' : `${partitions} partitions`}`,
      workers: count,
      args: defined({ 'cluster.store': store, 'cluster.partitions': partitions }),
    });
    const alone: Run = { what: 'crawl', workers: 0, args: [] };
    const all = [alone, ...[1, 16, 64].map((n) => shared(1, n)), shared(3, 16)];
    const runs = await inTurn(all, rounds, (run) => {
      const name = `bench-${process.pid}-${Date.now()}`;
      return measured(run, { dir: join(dir, name), name, seeds });
    });
    const least = (run: Run): number => Math.min(...(runs.get(run) ?? []).map(({ cpuMs, fetched }) => cpuMs / fetched));
    const note = question(
      `Workers beside crawl on LevelDB, ${HOSTS} hosts, in turn, ${pages.toLocaleString('en')} pages`,
    );
    for (const run of all) {
      if (run === alone) note('CPU a page, crawl', least(run), 'ms');
      else {
        const aim = run.workers === 1 ? '<= 1.4' : '<= 1.5';
        note(`CPU a page, ${run.what}, against crawl`, least(run) / least(alone), 'x', aim);
      }
      const peak = Math.max(...(runs.get(run) ?? []).map(({ peakMb }) => peakMb));
      note(`peak memory, ${run.what}`, peak, 'MB', '<= 300');
    }
  }),
);

interface MeasuredPlace {
  readonly dir: string;
  /** Of the crawl in the store. */
  readonly name: string;
  /** File with seeds. */
  readonly seeds: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Workers come three seconds one after the other; memory is that of the largest. */
export async function measured(
  { workers, args }: Run,
  { dir, name, seeds, env = {} }: MeasuredPlace,
): Promise<WorkersCost> {
  const command = workers === 0 ? ['crawl'] : ['work', ...defined({ 'cluster.name': name })];
  const common = ['--dir', dir, '--json', '--quiet', '--allow', '127.0.0.1', '--delay', '0', ...args];
  const ends = await Promise.all(
    Array.from({ length: Math.max(1, workers) }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, 3_000 * i));
      return nodeCost([CLI, ...command, ...(i === 0 ? [seeds] : []), ...common], { env });
    }),
  );
  const summaries = ends.map(({ stdout }) => JSON.parse(stdout) as { totals: { fetched: number }; rounds: unknown[] });
  return {
    cpuMs: sum(ends.map(({ cpuMs }) => cpuMs)),
    peakMb: Math.max(...ends.map(({ peakMb }) => peakMb)),
    fetched: sum(summaries.map(({ totals }) => totals.fetched)),
    rounds: sum(summaries.map(({ rounds }) => rounds.length)),
  };
}

/** Serves pages of several hosts that link to each other, with a folder and the file of their start pages. */
export const withSeeds = <Value>(pages: number, use: (dir: string, seeds: string) => Promise<Value>): Promise<Value> =>
  withFolder(async (dir) => {
    const pagesPerHost = Math.ceil(pages / HOSTS);
    const origins: string[] = [];
    const page = (host: number, number: number): string => {
      const random = seeded(host * 1_000_003 + number);
      const word = (): string => `word${Math.floor(random() * 5_000)}`;
      const link = (i: number): string => {
        const to = i === 0 ? (number + 1) % pagesPerHost : Math.floor(random() * pagesPerHost);
        return `<a href="${origins[i < LINKS / 2 ? host : Math.floor(random() * HOSTS)]}/${to}">${word()}</a>`;
      };
      const text = Array.from({ length: WORDS }, word).join(' ');
      const links = Array.from({ length: LINKS }, (_, i) => link(i)).join(' ');
      return `<html lang="en"><title>${word()} ${number}</title><p>${text}</p>${links}</html>`;
    };
    const sites = await Promise.all(
      Array.from({ length: HOSTS }, (_, host) =>
        serve((request, response) => {
          const number = Number(request.url?.slice(1));
          if (!Number.isInteger(number)) return void response.writeHead(404).end();
          response.writeHead(200, { 'content-type': 'text/html' }).end(page(host, number));
        }),
      ),
    );
    origins.push(...sites.map(({ origin }) => origin));
    try {
      const seeds = join(dir, 'seeds.txt');
      writeFileSync(seeds, origins.map((origin) => `${origin}/0\n`).join(''));
      return await use(dir, seeds);
    } finally {
      for (const site of sites) await site.close();
    }
  });
