import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percent, sum } from '../harness/cost.ts';
import { type Curve, linePlot, plotFile } from '../harness/line-plot.ts';
import { type Bench, measurement, type Note } from '../harness/measurement.ts';
import { dataAt } from '../harness/places.ts';
import { halving, ofSchedule, oracle, type Policy, uniform } from './policies.ts';
import { type Outcome, simulate } from './simulate.ts';
import { mixedWorld, poissonWorld, recordedWorld, type World } from './worlds.ts';

const BUDGETS = [0.25, 1, 4];
/** Shares of the oracle's freshness to be reached at each budget. */
const AIMS: Readonly<Record<string, readonly number[]>> = {
  poisson: [0.95, 0.98, 0.985],
  mixed: [0.95, 0.98, 0.985],
  recorded: [0.91, 0.94, 0.975],
};
const STALE_AIMS = [1, 0.8, 0.4];

const policiesOf = (world: World): Policy[] => [
  oracle(world),
  ofSchedule('freshness', world, false),
  ofSchedule('similarity', world, true),
  ofSchedule('adaptive', world, true),
  halving(world),
  uniform(world),
];

const OPTIONS = { traces: '', seed: 1, pages: 2_000, svg: '' };

/** Freshness by fetch budget under each schedule, in made worlds and, with `--traces FILE`, in a recorded one. */
export const freshness = measurement('freshness', OPTIONS, (bench, { traces, seed, pages, svg }) => {
  const worlds = [poissonWorld(seed, pages), mixedWorld(seed, pages)];
  if (traces !== '')
    worlds.push(recordedWorld(readFileSync(dataAt(traces, '--traces', 'a file of histories'), 'utf8')));
  const note = bench.question("Freshness under a budget, share of an oracle's");
  for (const world of worlds) {
    const rate = sum(world.pages.map((page) => page.rate));
    const points = new Map<string, [number, number][]>();
    for (const [i, factor] of BUDGETS.entries()) {
      const plan = { budget: rate * factor, roundsPerDay: 4, learningDays: 60 };
      const outcomes = policiesOf(world).map((policy) => simulate(world, policy, plan));
      bench.say(`${world.name}: ${world.pages.length} pages, ${plan.budget.toFixed(0)} fetches a day`);
      sayPolicies(bench, outcomes);
      take(note, world, outcomes, i);
      for (const { policy, freshness } of outcomes)
        points.set(policy, [...(points.get(policy) ?? []), [factor, freshness]]);
    }
    const curves = [...points].map(([label, own]): Curve => ({ label, colour: '', points: own }));
    if (svg !== '') writeFileSync(join(svg, `freshness-${world.name}.svg`), drawing(world.name, curves));
  }
});

function sayPolicies({ table }: Bench, outcomes: readonly Outcome[]): void {
  const best = outcomes[0] as Outcome;
  const share = (value: number): string => `${percent(value).toFixed(1)} %`;
  table(
    ['policy', 'fresh', 'of the oracle', 'age, days', 'used', 'wasted', 'periods within 2 x'],
    outcomes.map(({ policy, freshness, age, used, wasted, periods }) => [
      ...[policy, share(freshness), share(freshness / best.freshness), age.toFixed(2), share(used), share(wasted)],
      periods === null ? '' : share(periods),
    ]),
  );
}

function take(note: Note, { name }: World, outcomes: readonly Outcome[], i: number): void {
  const [best, own] = outcomes as [Outcome, Outcome];
  const nutch = outcomes.find((each) => each.policy.startsWith('adaptive')) as Outcome;
  const budget = `${name}, budget of ${BUDGETS[i]}`;
  note(budget, percent(own.freshness, best.freshness), '%', `>= ${percent(AIMS[name]?.[i] ?? 0)}`);
  const stale = (1 - own.freshness) / (1 - nutch.freshness);
  // A year of recorded history is short against the pages' periods, so there the rules still lie close together.
  const aim = name === 'recorded' ? undefined : `<= ${STALE_AIMS[i]}`;
  note(`stale share against Nutch's rule, ${budget}`, stale, 'x', aim);
  if (i === 1 && name !== 'recorded')
    note(`mean age against Nutch's rule, ${budget}`, own.age / nutch.age, 'x', '<= 0.2');
  if (i === 2 && own.periods !== null && name !== 'recorded')
    note(`periods within a factor of two, ${name}`, percent(own.periods), '%', name === 'poisson' ? '>= 80' : '>= 70');
}

/** Freshness against budget, one line a policy. */
function drawing(world: string, curves: readonly Curve[]): string {
  const colours = ['#111', '#0a7', '#06c', '#c50', '#a3a', '#888'];
  const plot = linePlot({
    caption: `Share of fresh pages by budget (fetches / major changes), ${world} world`,
    x: { isLog: true, ticks: BUDGETS.map((at) => ({ at, label: `${at} x` })) },
    y: { ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, label: `${100 * at} %` })) },
    curves: curves.map((curve, i) => ({ ...curve, colour: colours[i] ?? '#000' })),
  });
  return plotFile('Share of fresh pages by budget', [plot]);
}
