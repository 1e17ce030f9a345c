import type { Command } from 'commander';
import { withoutPassword } from '../../../config/store-url.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import { ANY_LENGTH, table } from '../../render/table.ts';

export function addConfig(program: Command, run: Run): void {
  const command = program
    .command('config')
    .description('Print the configuration in effect: defaults, then the file, then the command line.')
    .option('--origin', 'also the source of each value: default, file:line:column, or an option')
    .addHelpText('after', '\nExample:\n  incrawl config --origin -D fetch.delay=2s');
  command.action((flags: { readonly origin?: true }) =>
    run(command, async (session) => {
      const origins = [...session.loaded.origins].map(
        ([key, each]) => [key, { ...each, value: forShow(each.value) }] as const,
      );
      const entries = origins.map(([key, each]) => [key, flags.origin ? each : each.value]);
      await writeAnswer(session, Object.fromEntries(entries), () => {
        const rows = origins.map(([key, { value, origin }]) => ({ key, value: inYaml(value), origin }));
        return table(
          [
            { title: 'key', cell: (row) => row.key },
            { title: 'value', max: ANY_LENGTH, cell: (row) => row.value },
            ...(flags.origin ? [{ title: 'from', cell: (row: (typeof rows)[number]) => row.origin }] : []),
          ],
          rows,
          session,
        );
      });
    }),
  );
}

function forShow(value: unknown): unknown {
  return typeof value === 'string' ? withoutPassword(value) : value;
}

function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return value === '' ? "''" : String(value);
}
