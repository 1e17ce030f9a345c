// cli/commands/transfer/: commands that bring a crawl, or its pages, elsewhere.
import type { Command } from 'commander';
import { isSpread } from '../../../operations/cluster/cluster-mark.ts';
import type { Run } from '../../program/program.ts';
import { safeJson } from '../../render/safe-text.ts';

export function addExportDb(program: Command, run: Run): void {
  const command = program
    .command('export-db')
    .description(
      'Write the whole crawl db to stdout as lines of JSON: records, outlinks, host data, leases. A crawl may run ' +
        'meanwhile.',
    )
    .addHelpText('after', '\nExamples:\n  incrawl export-db | gzip > crawldb.jsonl.gz');
  command.action(() =>
    run(command, async (session) => {
      const write = async (lines: AsyncIterable<string>): Promise<void> => {
        for await (const line of lines) await session.out.write(`${safeJson(line)}\n`);
      };
      const { exportSpread } = await import('../../../operations/cluster/partitions/spread-export.ts');
      if (isSpread(session.options.dir)) return write(exportSpread(await session.stateOptions({})));
      await session.withSnapshot((crawler) => write(crawler.exportDb()));
    }),
  );
}
