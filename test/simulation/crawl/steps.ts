import { choice } from './chance.ts';
import type { SimulatedProcess, Surroundings } from './process.ts';
import type { SimulatedWorld } from './world.ts';

export type StepDeps = Surroundings & { readonly world: SimulatedWorld };

/** Something that an operator does. */
export interface Step {
  readonly name: string;
  run(process: SimulatedProcess, deps: StepDeps): Promise<unknown>;
}

const seedsOf = (world: SimulatedWorld) => [{ name: 'seeds', lines: world.seeds }];

const crawl: Step = {
  name: 'crawl',
  run: (process, { world, random }) => process.crawl({ seeds: seedsOf(world), rounds: 1 + Math.floor(random() * 4) }),
};

const crawlOn: Step = { name: 'crawl on', run: (process) => process.crawl({ rounds: 2 }) };

const budgeted: Step = {
  name: 'crawl with a budget',
  run: (process, { random }) => process.crawl({ budget: 1 + Math.floor(random() * 20), rounds: 3 }),
};

/** The operator stops a crawl at some time. */
const stopped: Step = {
  name: 'crawl until stopped',
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
  run: (process, { world, random }) => {
    const { name } = world.hosts[Math.floor(random() * world.hosts.length)] as (typeof world.hosts)[number];
    const lines = Array.from({ length: 5 }, (_, i) => `http://${name}/late/${i}-${Math.floor(random() * 5)}`);
    return process.inject([{ name: 'more', lines }], { mode: random() < 0.5 ? 'keep' : 'update' });
  },
};

const stepwise: Step = {
  name: 'steps of a round',
  async run(process, { random }) {
    await process.generate();
    await process.fetch({ parse: random() < 0.5 });
    if (random() < 0.5) await process.parse().catch(() => {});
    await process.updatedb(random() < 0.3 ? { orphans: 'mark' } : {});
  },
};

const undoDedup: Step = { name: 'undo dedup', run: (process) => process.undoDedup(false) };

/** @param isSteady only those that leave the outcome of a crawl as it is */
export const steps = (isSteady: boolean): readonly Step[] =>
  isSteady
    ? [crawl, crawl, crawlOn, stopped, stepwise]
    : [crawl, crawl, crawlOn, stopped, stepwise, budgeted, inject, undoDedup];

export const anyStep = (isSteady: boolean, ...parts: readonly (string | number)[]): Step =>
  choice(steps(isSteady), ...parts);
