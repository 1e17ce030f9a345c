// cli/commands/transfer/: commands that bring a crawl, or its pages, elsewhere.

import type { Command } from 'commander';
import { safeJson } from '../../../render/safe-text.ts';
import type { Run } from '../../program/program.ts';

export function addDbExport(program: Command, run: Run): void {
  const command = program
    .command('export')
    .description(
      'Write the whole crawl db to stdout as lines of JSON: records, outlinks, host data, leases. A crawl may run ' +
        'meanwhile.',
    )
    .addHelpText('after', '\nExamples:\n  incrawl db export | gzip > crawldb.jsonl.gz');
  command.action(() =>
    run(command, async (session) => {
      await session.withSnapshot(async (crawler) => {
        for await (const line of crawler.exportDb()) await session.out.write(`${safeJson(line)}\n`);
      });
    }),
  );
}
