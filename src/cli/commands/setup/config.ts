import type { Command } from 'commander';
import { withoutPassword } from '../../../config/redis-url.ts';
import type { Run } from '../../program/program.ts';
import { table } from '../../render/table.ts';

export function addConfig(program: Command, run: Run): void {
  const command = program
    .command('config')
    .description('The configuration in force: defaults, then the file, then the command line.')
    .option('--origin', 'where each value comes from: default, file:line:column, or an option')
    .addHelpText('after', '\nExample:\n  incrawl config --origin -D fetch.delay=2s');
  command.action((flags: { readonly origin?: true }) =>
    run(command, async (session) => {
      const origins = [...session.loaded.origins].map(
        ([key, each]) => [key, { ...each, value: forShow(each.value) }] as const,
      );
      if (session.json) {
        const entries = origins.map(([key, each]) => [key, flags.origin ? each : each.value]);
        return session.out.write(`${JSON.stringify(Object.fromEntries(entries))}\n`);
      }
      const rows = origins.map(([key, { value, origin }]) => ({ key, value: inYaml(value), origin }));
      const text = table(
        [
          { title: 'key', cell: (row) => row.key },
          { title: 'value', cell: (row) => row.value },
          ...(flags.origin ? [{ title: 'from', cell: (row: (typeof rows)[number]) => row.origin }] : []),
        ],
        rows,
        session.bold,
      );
      await session.out.write(text);
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
