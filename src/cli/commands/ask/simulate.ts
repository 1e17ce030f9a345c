import type { Command } from 'commander';
import type { ReplayTotals, SimulateSummary } from '../../../crawler/views.ts';
import { collect, hostName } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { bytes, count, counted } from '../../../render/quantities.ts';
import { type TextStyle, table } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

interface SimulateFlags {
  readonly schedule?: readonly string[];
  readonly host?: string;
}

const DEFAULT_SCHEDULES = ['freshness', 'similarity', 'adaptive', 'fixed'];

export function addSimulate(program: Command, run: Run): void {
  const command = program
    .command('simulate')
    .description(
      'Replay recorded visits through other schedules: fetches, changes found, time out of date. Changes nothing.',
    )
    .option('--schedule <name>', 'schedule to replay; repeatable; default: all bundled schedules', collect)
    .option('--host <host>', 'only pages of this host', hostName)
    .addHelpText('after', '\nExample:\n  incrawl forecast simulate --schedule adaptive --schedule freshness');
  command.action(({ schedule: schedules = DEFAULT_SCHEDULES, host }: SimulateFlags) =>
    run(command, async (session) => {
      const summary = await session.withReader((crawler) =>
        crawler.simulate({ schedules, ...(host === undefined ? {} : { host }) }),
      );
      await writeAnswer(session, summary, () => simulateText(summary, session));
      return summary.pages === 0 ? EXIT.error : EXIT.done;
    }),
  );
}

function simulateText(summary: SimulateSummary, style: TextStyle): string {
  if (summary.pages === 0) return 'No page has two visits yet: nothing to replay.\n';
  const rows: readonly ReplayTotals[] = [summary.stored, ...summary.replayed];
  const text = table(
    [
      { title: 'schedule', cell: (row) => (row === summary.stored ? 'recorded' : row.schedule) },
      { title: 'fetches', align: 'right', cell: (row) => count(row.fetches) },
      {
        title: 'changes found',
        rank: 1,
        align: 'right',
        cell: (row) => `${count(row.changesFound)} of ${count(row.changes)}`,
      },
      { title: 'out of date', align: 'right', cell: (row) => `${(100 * row.staleShare).toFixed(1)} %` },
      { title: 'bodies', rank: 2, align: 'right', cell: (row) => bytes(row.bytes) },
    ],
    rows,
    style,
  );
  return `${counted(summary.pages, 'page')}, ${count(summary.pageDays)} page-days, from the visits in the records.\n\n${text}
Assumption: a change happened half way between the two visits around it.
A change that was undone between two visits is unknown, so a schedule with more
visits than the recorded ones may be better than it looks here.\n`;
}
