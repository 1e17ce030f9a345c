import type { SimulatedProcess, Surroundings } from './process.ts';
import type { SimulatedWorld } from './world.ts';

export type StepDeps = Surroundings & { readonly world: SimulatedWorld };

/** Something that an operator does. */
export interface Step {
  readonly name: string;
  /** Whether what it has found is on disk when it ends; what a round that was stopped had found may be found again. */
  readonly isDurable: boolean;
  /** Whether it goes on with the rounds that are open, and all that these have is on disk when it ends. */
  readonly savesRounds: boolean;
  run(process: SimulatedProcess, deps: StepDeps): Promise<unknown>;
}

const seedsOf = (world: SimulatedWorld) => [{ name: 'seeds', lines: world.seeds }];

const crawl: Step = {
  name: 'crawl',
  isDurable: true,
  savesRounds: true,
  run: (process, { world, random }) => process.crawl({ seeds: seedsOf(world), rounds: 1 + Math.floor(random() * 4) }),
};

const crawlOn: Step = {
  name: 'crawl on',
  isDurable: true,
  savesRounds: true,
  run: (process) => process.crawl({ rounds: 2 }),
};

const budgeted: Step = {
  name: 'crawl with a budget',
  isDurable: true,
  savesRounds: true,
  run: (process, { random }) => process.crawl({ budget: 1 + Math.floor(random() * 20), rounds: 3 }),
};

/** The operator stops a crawl at some time. */
const stopped: Step = {
  name: 'crawl until stopped',
  isDurable: false,
  savesRounds: false,
  async run(process, { world, clock, random }) {
    const stop = new AbortController();
    const crawling = process.crawl({ seeds: seedsOf(world), signal: stop.signal });
    const end = new AbortController();
    const waiting = clock.sleep(Math.ceil(random() * 200_000), end.signal).then(
      () => stop.abort(),
      () => {},
    );
    try {
      await crawling;
    } finally {
      end.abort();
      await waiting;
    }
  },
};

const inject: Step = {
  name: 'inject',
  isDurable: true,
  savesRounds: false,
  run: (process, { world, random }) => {
    const { name } = world.hosts[Math.floor(random() * world.hosts.length)] as (typeof world.hosts)[number];
    const lines = Array.from({ length: 5 }, (_, i) => `http://${name}/late/${i}-${Math.floor(random() * 5)}`);
    return process.inject([{ name: 'more', lines }], { mode: random() < 0.5 ? 'keep' : 'update' });
  },
};

const stepwise: Step = {
  name: 'steps of a round',
  isDurable: true,
  savesRounds: true,
  async run(process, { random }) {
    // A round that was stopped is finished first: only its segment has the pauses that hosts have asked for in it.
    await process.crawl({ rounds: 0 });
    await process.generate();
    const parse = random() < 0.5;
    await process.fetch({ parse });
    if (!parse && random() < 0.5) await process.parse();
    await process.updatedb(random() < 0.3 ? { orphans: 'mark' } : {});
  },
};

/** Half of a round: the next step goes on with it, be it of another process. */
const begun: Step = {
  name: 'first steps of a round',
  isDurable: false,
  savesRounds: true,
  async run(process, { random }) {
    await process.crawl({ rounds: 0 });
    const { segment } = await process.generate();
    if (segment !== null && random() < 0.7) await process.fetch({ segment, parse: random() < 0.5 });
  },
};

const undoDedup: Step = {
  name: 'undo dedup',
  isDurable: true,
  savesRounds: false,
  run: (process) => process.undoDedup(false),
};

/** @param isSteady only those that leave the outcome of a crawl as it is */
export const steps = (isSteady: boolean): readonly Step[] =>
  isSteady
    ? [crawl, crawl, crawlOn, stopped, stepwise, begun]
    : [crawl, crawl, crawlOn, stopped, stepwise, begun, budgeted, inject, undoDedup];
