import { type RunningSite, siteOf, startSite } from '../crawl/site-process.ts';
import { inTurn, median } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { withFolder } from '../harness/places.ts';
import { treeCost } from '../harness/processes.ts';
import { type Program, programs } from './programs.ts';

/** CPU of incrawl against that of Crawlee. */
const AIMS = { got: '<= 0.4', undici: '<= 0.36' };

interface Run {
  readonly cpuMs: number;
  readonly peakMb: number;
  readonly pagesPerSecond: number;
  /** What keeps it from being compared: pages missing or fetched twice; empty if nothing. */
  readonly fault: string;
}

const OPTIONS = { pages: 5_000, real: false, rounds: 5, crawlee: '', python: 'python3' };

/** The same site by incrawl and by other crawlers, in turn: each crawls it whole once a round. */
export const peers = measurement(
  'peers',
  OPTIONS,
  async ({ say, question }, { rounds, crawlee, python, ...options }) => {
    const site = siteOf(options);
    const all = programs({ crawlee, python });
    for (const { name, install } of all.filter(({ version }) => version === null)) say(`absent: ${name}: ${install}`);
    const present = all.filter(({ version }) => version !== null);
    const running = await startSite(site);
    let runs: Map<Program, Run[]>;
    try {
      runs = await inTurn(present, rounds, (program) => crawlBy(program, running, site.pages));
    } finally {
      running.close();
    }
    const size = site.make === 'real' ? 'real-sized pages' : 'pages of 36 KB';
    const note = question(
      `${site.pages.toLocaleString('en')} ${size}, ${rounds === 1 ? 'one round' : `${rounds} rounds`}`,
    );
    const suffix = site.make === 'real' ? ', real-sized' : '';
    const [got, undici] = present as [Program, Program];
    const versus = (own: Program, peer: Program): number =>
      median((runs.get(peer) as Run[]).map(({ cpuMs }, i) => (runs.get(own)?.[i]?.cpuMs ?? 0) / cpuMs));
    const peakOf = (program: Program): number => median((runs.get(program) as Run[]).map(({ peakMb }) => peakMb));
    for (const [program, own] of runs) {
      const peer = program.isOwn ? undefined : program.name;
      const way = suffix + (program.isOwn && program.name !== '' ? `, ${program.name}` : '');
      const faults = new Set(own.map(({ fault }) => fault).filter((fault) => fault !== ''));
      if (faults.size > 0) say(`${program.name} is not compared: ${[...faults].join('; ')}`);
      const of = (value: (run: Run) => number): number => median(own.map(value));
      note(`CPU a page${way}`, of(({ cpuMs }) => cpuMs) / site.pages, 'ms', undefined, peer);
      note(`peak memory${way}`, peakOf(program), 'MB', undefined, peer);
      note(
        `pages a second${way}`,
        of(({ pagesPerSecond }) => pagesPerSecond),
        'pages/s',
        undefined,
        peer,
      );
      if (program.isOwn) note(`runs that fetch every page once${way}`, own.length - faults.size, '', `>= ${rounds}`);
      if (program.isOwn || faults.size > 0) continue;
      if (program.name === 'HTTrack')
        note(`peak memory above that of HTTrack${suffix}`, peakOf(got) - peakOf(program), 'MB', '<= 220');
      const aim = program.name === 'Crawlee' ? AIMS : { got: undefined, undici: undefined };
      note(`CPU against ${program.name}${suffix}`, versus(got, program), 'x', aim.got);
      note(`CPU against ${program.name}${suffix}, undici`, versus(undici, program), 'x', aim.undici);
    }
  },
);

async function crawlBy(program: Program, { seeds, log }: RunningSite, pages: number): Promise<Run> {
  return withFolder(async (dir) => {
    await log();
    const { cpuMs, ms, peakMb, exitCode, stderr } = await treeCost(program.command(dir, seeds), { cwd: dir });
    const fetched = await log();
    const isWhole = fetched.pages === pages;
    const faults = [
      ...(isWhole ? [] : [`${fetched.pages} of ${pages} pages, exit code ${exitCode} ${stderr.trim().slice(-500)}`]),
      ...(fetched.twice === 0 ? [] : [`${fetched.twice} pages fetched twice`]),
    ];
    return { cpuMs, peakMb, pagesPerSecond: (1_000 * fetched.pages) / ms, fault: faults.join(', ') };
  });
}
