import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findings } from '../end-state.ts';
import { asked, type Ended, program } from '../program.ts';
import { randomOf } from '../random.ts';
import { BEHAVIOURS } from './behaviours/all.ts';
import { endOf, type VisitedUrl, wrongsOf } from './ends.ts';
import { type Hosts, NETWORK, startHosts } from './hosts.ts';

export interface HostileOptions {
  /** Of the addresses of the behaviours. */
  readonly seed: number;
  /** Configuration besides that of the network; with any, the order of requests is not judged. */
  readonly config?: readonly string[];
  /** Time for the crawl; default: half an hour. */
  readonly withinMs?: number;
}

/**
 * Crawls hosts of every hostile behaviour and ordinary ones in one process. It must end by itself with 0, each
 * behaviour in its class, without a connection to the canary, two at once to a host, or delay for ordinary hosts.
 */
export async function hostile(
  say: (line: string) => void,
  { seed, config = [], withinMs = 1_800_000 }: HostileOptions,
): Promise<{ readonly failures: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'incrawl-hostile-'));
  const behaviours = shuffled(BEHAVIOURS, seed);
  const hosts = await startHosts(behaviours);
  try {
    const dir = join(folder, 'crawldb');
    const seeds = join(folder, 'seeds.txt');
    const urls = [...hosts.hostile.map((origin) => `${origin}/`), ...hosts.ordinary, `${hosts.canary}/`];
    await writeFile(seeds, urls.join('\n'));
    const network = [`http.allowAddresses=["${NETWORK}"]`, 'fetch.delay=0s', ...config].flatMap((each) => ['-D', each]);
    const ended = await program(['crawl', seeds, '--dir', dir, '--rounds', '2', ...network], { withinMs });
    const dump = await asked(['readdb', '--dump', '--format', 'jsonl', '--dir', dir]);
    const records = new Map(
      dump
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as VisitedUrl)
        .map((record) => [record.url, record]),
    );
    const misplaced = behaviours.flatMap(({ name, ends }, i) => {
      const url = `${hosts.hostile[i]}/`;
      const end = endOf(records.get(url));
      const error = records.get(url)?.lastError;
      return ends.includes(end)
        ? []
        : [`${name}: expected ${ends.join(' or ')}, got ${end} (${error?.message ?? 'no error'})`];
    });
    const found = await findings(dir);
    const wrongs = [
      ...misplaced,
      ...wrongsOf([...records.values()]),
      ...processWrongs(ended),
      ...hostWrongs(hosts, records, config.length === 0),
      ...(found === '' ? [] : [found]),
    ];
    for (const wrong of wrongs) say(`hostile  ${wrong}`);
    say(
      `hostile  ${behaviours.length - misplaced.length} of ${behaviours.length} behaviours with their class, ` +
        `canary ${hosts.canaryHits}, violations ${hosts.violations.length}, ` +
        `ordinary pages ${fetchedOf(hosts, records)} of ${hosts.ordinary.length}`,
    );
    return { failures: wrongs.length };
  } finally {
    await hosts.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function processWrongs({ code, signal, isLate, stderr }: Ended): string[] {
  if (isLate) return ['the crawl did not end in its time'];
  return [
    ...(code === 0 ? [] : [`the crawl ended with ${code ?? signal}: ${stderr.slice(-2000)}`]),
    ...(/^\s+at .+:\d+|this is a bug/im.test(stderr) ? [`a stack on stderr: ${stderr.slice(-2000)}`] : []),
  ];
}

function hostWrongs(hosts: Hosts, records: ReadonlyMap<string, VisitedUrl>, isAtDefaults: boolean): string[] {
  const canary = endOf(records.get(`${hosts.canary}/`));
  const fetched = fetchedOf(hosts, records);
  const lastTimeout = Math.max(
    ...hosts.hostile
      .filter((origin) => endOf(records.get(`${origin}/`)) === 'fetch-timeout')
      .map((origin) => hosts.lastEnd.get(origin) ?? 0),
  );
  return [
    ...(hosts.canaryHits === 0 ? [] : [`${hosts.canaryHits} connections to the canary`]),
    // As a seed it is within the scope, so that only the guard of addresses stands before it.
    ...(['address-blocked', 'robots-unreachable'].includes(canary) ? [] : [`the canary as a seed: ${canary}`]),
    ...hosts.violations.map((host) => `two connections at once: ${host}`),
    ...(fetched === hosts.ordinary.length ? [] : [`only ${fetched} ordinary pages fetched`]),
    // With shorter time limits the order depends on how fast the machine is.
    ...(!isAtDefaults || hosts.lastOrdinary < lastTimeout
      ? []
      : ['an ordinary page was asked for only after all slow hosts']),
  ];
}

function fetchedOf({ ordinary, asked: requested }: Hosts, records: ReadonlyMap<string, VisitedUrl>): number {
  return ordinary.filter((url) => requested.has(url) && endOf(records.get(url)) === 'fetched').length;
}

function shuffled<Each>(all: readonly Each[], seed: number): Each[] {
  const random = randomOf(seed);
  return all
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
