import type { Command } from 'commander';
import { counted } from '../../../render/quantities.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

interface RepartitionFlags {
  readonly nodes: string;
  readonly out: string;
  readonly dryRun?: boolean;
}

export function addRepartition(program: Command, run: Run): void {
  const command = program
    .command('repartition')
    .description(
      'Split the crawl db into one for each node, by host or registrable domain (partition.by). An added node moves ' +
        'about one host in n+1. Segments are not copied.',
    )
    .requiredOption('--nodes <names>', 'names of the nodes, separated by commas')
    .requiredOption('--out <folder>', 'new or empty; each node gets FOLDER/NAME as its state directory')
    .option('--dry-run', 'only say how much each node would get; nothing is written')
    .addHelpText('after', '\nExamples:\n  incrawl db repartition --nodes north,south --out shares');
  command.action(({ nodes: names, out, dryRun = false }: RepartitionFlags) =>
    run(command, async (session) => {
      const nodes = names.split(',').map((name) => name.trim());
      const summary = await withCrawlerOrCopy(session, dryRun, (crawler) =>
        crawler.repartition({ nodes, out, dryRun }),
      );
      const text = summary.nodes.map(
        ({ dir, records, hosts }) => `${dir}: ${counted(records, 'record')} of ${counted(hosts, 'host')}\n`,
      );
      await writeSummary(session, summary, () => text.join(''), dryRun);
    }),
  );
}
