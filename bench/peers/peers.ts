/** `npm run bench -- --only peers`: the same site by incrawl and by other crawlers, in turn. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningSite, type Site, startSite } from '../crawl/site-process.ts';
import { costOf } from './process-cost.ts';
import { type Installed, type Program, programs } from './programs.ts';

/** CPU of incrawl against that of Crawlee. */
const AIMS = { http: 0.4, undici: 0.36 };

interface Run {
  readonly cpuMs: number;
  readonly peakRssMb: number;
  readonly pagesPerSecond: number;
  /** What keeps it from being compared: pages missing or fetched twice; empty if nothing. */
  readonly fault: string;
}

/** Each program crawls the whole site once a round; medians over the rounds. */
export async function benchPeers(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  site: Site,
  { rounds, ...installed }: Installed & { readonly rounds: number },
): Promise<void> {
  const all = programs(installed);
  for (const { name, install } of all.filter(({ version }) => version === null))
    say(`absent          ${name}: ${install}`);
  const present = all.filter(({ version }) => version !== null);
  const runs = new Map<Program, Run[]>(present.map((program) => [program, []]));
  const running = await startSite(site);
  let pageBytes = 0;
  try {
    for (let round = 0; round < rounds; round++)
      for (const program of present) {
        const run = await crawlBy(program, running, site.pages);
        runs.get(program)?.push(run);
        process.stderr.write(
          `round ${round + 1} of ${rounds}: ${program.name} ${(run.cpuMs / site.pages).toFixed(2)} ms ${run.fault}\n`,
        );
        pageBytes ||= run.bytes / site.pages;
      }
  } finally {
    running.close();
  }
  say(
    `peers           ${site.pages} ${site.make} pages, ${site.hosts} hosts, answers ${site.encoding} (${(pageBytes / 1_000).toFixed(1)} KB a page as sent), medians of ${rounds} rounds in turn, whole processes`,
  );
  const [got, undici] = present as [Program, Program];
  const versus = (own: Program, peer: Program): number => {
    const ofOwn = runs.get(own) as Run[];
    return median((runs.get(peer) as Run[]).map(({ cpuMs }, i) => (ofOwn[i] as Run).cpuMs / cpuMs));
  };
  say(
    `  ${'program'.padEnd(28)}${'CPU ms a page'.padEnd(24)}${'peak MB'.padStart(8)}${'pages/s'.padStart(9)}  CPU of incrawl against it: got, undici; keeps`,
  );
  for (const program of present) {
    const own = runs.get(program) as Run[];
    const cpu = own.map(({ cpuMs }) => cpuMs / site.pages);
    const faults = new Set(own.map(({ fault }) => fault).filter((fault) => fault !== ''));
    const compared =
      faults.size > 0
        ? `NOT COMPARED: ${[...faults].join('; ')}`
        : `${versus(got, program).toFixed(2)} x, ${versus(undici, program).toFixed(2)} x`;
    const range = `(${Math.min(...cpu).toFixed(2)} to ${Math.max(...cpu).toFixed(2)})`;
    say(
      `  ${`${program.name} ${program.version}`.padEnd(28)}${`${median(cpu).toFixed(2)} ${range}`.padEnd(24)}${median(
        own.map(({ peakRssMb }) => peakRssMb),
      )
        .toFixed(0)
        .padStart(8)}${median(own.map(({ pagesPerSecond }) => pagesPerSecond))
        .toFixed(0)
        .padStart(9)}  ${compared}; ${program.keeps}`,
    );
    if (program === got || program === undici) verdict(faults.size === 0, `${program.name}: every page fetched once`);
    if (program.name.startsWith('Crawlee') && faults.size === 0) {
      const [byGot, byUndici] = [versus(got, program), versus(undici, program)];
      verdict(byGot <= AIMS.http, `CPU with got ${byGot.toFixed(2)} x that of Crawlee <= ${AIMS.http} x`);
      verdict(byUndici <= AIMS.undici, `CPU with undici ${byUndici.toFixed(2)} x that of Crawlee <= ${AIMS.undici} x`);
    }
  }
}

async function crawlBy(program: Program, { seeds, log }: RunningSite, pages: number): Promise<Run & { bytes: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-peers-'));
  try {
    await log();
    const { cpuMs, ms, peakRssMb, exitCode, stderr } = await costOf(program.command(dir, seeds), dir);
    const fetched = await log();
    const faults = [
      ...(fetched.pages === pages
        ? []
        : [`${fetched.pages} of ${pages} pages, exit code ${exitCode} ${stderr.trim()}`]),
      ...(fetched.twice === 0 ? [] : [`${fetched.twice} pages fetched twice`]),
    ];
    return {
      cpuMs,
      peakRssMb: peakRssMb ?? Number.NaN,
      pagesPerSecond: (1_000 * fetched.pages) / ms,
      fault: faults.join(', '),
      bytes: fetched.bodyBytes,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
