/**
 * `npm run bench:freshness -- [--traces FILE] [--seed N] [--pages N] [--svg DIR]`: freshness by fetch budget
 * under each schedule.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { linePlot, plotFile } from '../plots/line-plot.ts';
import { halving, ofSchedule, oracle, type Policy, uniform } from './policies.ts';
import { type Outcome, simulate } from './simulate.ts';
import { mixedWorld, poissonWorld, recordedWorld, type World } from './worlds.ts';

const { values } = parseArgs({
  options: {
    traces: { type: 'string' },
    seed: { type: 'string', default: '1' },
    pages: { type: 'string', default: '2000' },
    svg: { type: 'string' },
  },
});
const seed = Number(values.seed);
const pages = Number(values.pages);
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

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

const worlds = [poissonWorld(seed, pages), mixedWorld(seed, pages)];
if (values.traces !== undefined) worlds.push(recordedWorld(readFileSync(values.traces, 'utf8')));

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const verdict = (isGood: boolean): string => (isGood ? 'PASS' : 'FAIL');
const curves: { world: string; policy: string; points: number[] }[] = [];

for (const world of worlds) {
  const rate = world.pages.reduce((sum, page) => sum + page.rate, 0);
  say(`\n${world.name}: ${world.pages.length} pages, ${world.days} days, ${rate.toFixed(0)} major changes a day`);
  for (const [i, factor] of BUDGETS.entries()) {
    const plan = { budget: rate * factor, roundsPerDay: 4, learningDays: 60 };
    const outcomes = policiesOf(world).map((policy) => simulate(world, policy, plan));
    say(`  budget ${factor} x the rate of change = ${plan.budget.toFixed(0)} fetches a day`);
    report(world, outcomes, i);
    for (const outcome of outcomes) {
      const curve = curves.find((each) => each.world === world.name && each.policy === outcome.policy);
      if (curve === undefined) curves.push({ world: world.name, policy: outcome.policy, points: [outcome.freshness] });
      else curve.points.push(outcome.freshness);
    }
  }
}
if (values.svg !== undefined)
  for (const world of worlds) writeFileSync(join(values.svg, `freshness-${world.name}.svg`), drawing(world.name));

function report(world: World, outcomes: readonly Outcome[], i: number): void {
  const best = outcomes[0] as Outcome;
  for (const each of outcomes) {
    const periods = each.periods === null ? '' : `  periods within 2 x ${percent(each.periods)}`;
    say(
      `    ${each.policy.padEnd(26)} fresh ${percent(each.freshness).padStart(7)}  of the oracle ${percent(each.freshness / best.freshness).padStart(7)}  age ${each.age.toFixed(2).padStart(6)} d  used ${percent(each.used).padStart(7)}  wasted ${percent(each.wasted).padStart(6)}${periods}`,
    );
  }
  const own = outcomes[1] as Outcome;
  const nutch = outcomes.find((each) => each.policy.startsWith('adaptive')) as Outcome;
  const share = own.freshness / best.freshness;
  const aim = AIMS[world.name]?.[i] ?? 0;
  const stale = (1 - own.freshness) / (1 - nutch.freshness);
  say(`    ${verdict(share >= aim)}  ${percent(share)} of the oracle >= ${percent(aim)}`);
  // A year of recorded history is short against the pages' periods, so there the rules still lie close together.
  if (world.name === 'recorded') {
    say(`          stale share ${stale.toFixed(2)} x Nutch's`);
    return;
  }
  say(`    ${verdict(stale <= (STALE_AIMS[i] ?? 0))}  stale share ${stale.toFixed(2)} x Nutch's <= ${STALE_AIMS[i]}`);
  if (i === 1)
    say(
      `    ${verdict(own.age <= nutch.age / 5)}  mean age ${own.age.toFixed(2)} d <= 1/5 of Nutch's ${nutch.age.toFixed(2)} d`,
    );
  if (i === 2 && own.periods !== null) {
    const wanted = world.name === 'poisson' ? 0.8 : 0.7;
    say(
      `    ${verdict(own.periods >= wanted)}  ${percent(own.periods)} of the periods within 2 x >= ${percent(wanted)}`,
    );
  }
}

/** Freshness against budget, one line a policy. */
function drawing(world: string): string {
  const colours = ['#111', '#0a7', '#06c', '#c50', '#a3a', '#888'];
  const plot = linePlot({
    caption: `Share of fresh pages by budget (fetches / major changes), ${world} world`,
    x: { isLog: true, ticks: BUDGETS.map((at) => ({ at, label: `${at} x` })) },
    y: { ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, label: `${100 * at} %` })) },
    curves: curves
      .filter((curve) => curve.world === world)
      .map(({ policy, points }, i) => ({
        label: policy,
        colour: colours[i] ?? '#000',
        points: points.map((share, at) => [BUDGETS[at] as number, share]),
      })),
  });
  return plotFile('Share of fresh pages by budget', [plot]);
}
