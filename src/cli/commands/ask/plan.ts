import type { Command } from 'commander';
import type { PlanSummary } from '../../../crawler.ts';
import type { Run } from '../../program/program.ts';
import { wholeNumber } from '../../program/shared-options.ts';
import { count } from '../../render/quantities.ts';
import { table } from '../../render/table.ts';

interface PlanFlags {
  readonly days: number;
  readonly budgetPerDay?: number;
}

/** Ten years: each visit ahead is counted one by one. */
const MAX_DAYS = 3650;

export function addPlan(program: Command, run: Run): void {
  const command = program
    .command('plan')
    .description('What the next days will ask for, by day and host, against the budget. Changes nothing.')
    .option('--days <n>', 'how far to look, 1 to 3650', wholeNumber(1, MAX_DAYS), 7)
    .option('--budget-per-day <n>', 'suppose this budget (generate.budgetPerDay)', wholeNumber(1))
    .addHelpText('after', '\nExample:\n  incrawl plan --days 7 --budget-per-day 5000');
  command.action((flags: PlanFlags) =>
    run(command, async (session) => {
      const plan = await session.withReader((crawler) => crawler.plan(flags));
      await session.out.write(session.json ? `${JSON.stringify(plan)}\n` : planText(plan, session.bold));
    }),
  );
}

function planText(plan: PlanSummary, bold: (text: string) => string): string {
  const days = table(
    [
      { title: 'from (UTC)', cell: (day) => day.from.slice(0, 16).replace('T', ' ') },
      { title: 'due', align: 'right', cell: (day) => count(day.due) },
      { title: 'new', align: 'right', cell: (day) => count(day.newUrls) },
      { title: 'fetches', align: 'right', cell: (day) => count(day.fetches) },
      { title: 'waiting', align: 'right', cell: (day) => count(day.waiting) },
    ],
    plan.days,
    bold,
  );
  const hosts = table(
    [
      { title: 'host', max: 60, cell: (row) => row.host },
      { title: 'visits', align: 'right', cell: (row) => count(row.visits) },
    ],
    plan.hosts.slice(0, 10),
    bold,
  );
  const need = `The pages ask for ${count(plan.needPerDay)} visits a day`;
  const { budgetPerDay } = plan;
  const verdict =
    budgetPerDay === null
      ? `${need}; there is no budget.`
      : `${need}; the budget is ${count(budgetPerDay)}${budgetPerDay < plan.needPerDay ? ', so intervals will grow' : ''}.`;
  return `${days}\n${plan.hosts.length === 0 ? '' : `${hosts}\n`}${verdict}\n`;
}
