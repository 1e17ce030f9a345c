import type { Command } from 'commander';
import type { PlanSummary } from '../../../crawler/index.ts';
import { wholeNumber } from '../../../query/input/option-values.ts';
import { count, counted } from '../../../render/quantities.ts';
import { type TextStyle, table } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

interface PlanFlags {
  readonly days: number;
  readonly budgetPerDay?: number;
}

/** Ten years: the visits are simulated one by one. */
const MAX_DAYS = 3650;

export function addPlan(program: Command, run: Run): void {
  const command = program
    .command('plan')
    .description('Forecast of the visits that fall due, by day and host, against the budget. Changes nothing.')
    .option('--days <n>', 'days to forecast, 1 to 3650', wholeNumber(1, MAX_DAYS), 7)
    .option('--budget-per-day <n>', 'assume this budget (generate.budgetPerDay)', wholeNumber(1))
    .addHelpText('after', '\nExample:\n  incrawl forecast plan --days 7 --budget-per-day 5000');
  command.action((flags: PlanFlags) =>
    run(command, async (session) => {
      const plan = await session.withReader((crawler) => crawler.plan(flags));
      await writeAnswer(session, plan, () => planText(plan, session));
    }),
  );
}

function planText(plan: PlanSummary, style: TextStyle): string {
  const days = table(
    [
      { title: 'from (UTC)', cell: (day) => day.from.slice(0, 16).replace('T', ' ') },
      { title: 'due', align: 'right', cell: (day) => count(day.due) },
      { title: 'new', rank: 2, align: 'right', cell: (day) => count(day.newUrls) },
      { title: 'fetches', rank: 1, align: 'right', cell: (day) => count(day.fetches) },
      { title: 'waiting', align: 'right', cell: (day) => count(day.waiting) },
    ],
    plan.days,
    style,
  );
  const hosts = table(
    [
      { title: 'host', max: 60, cell: (row) => row.host },
      { title: 'visits', align: 'right', cell: (row) => count(row.visits) },
    ],
    plan.hosts.slice(0, 10),
    style,
  );
  const need = `The intervals need ${counted(plan.needPerDay, 'visit')} a day`;
  const { budgetPerDay } = plan;
  const verdict =
    budgetPerDay === null
      ? `${need}; there is no budget.`
      : `${need}; the budget is ${count(budgetPerDay)}${budgetPerDay < plan.needPerDay ? ', so pages will wait' : ''}.`;
  return `${days}\n${plan.hosts.length === 0 ? '' : `${hosts}\n`}${verdict}\n`;
}
