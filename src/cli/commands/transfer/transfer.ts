import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { MergeSummary, TransferSummary } from '../../../crawler.ts';
import { linesOf, linesOfFile } from '../../input/line-reader.ts';
import { asAsked, DRY_RUN, dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { count } from '../../render/quantities.ts';

export function addExportDb(program: Command, run: Run): void {
  const command = program
    .command('export-db')
    .description(
      'Write the whole crawl db to stdout as lines of JSON: records, outlinks, host facts, leases. A crawl may run meanwhile.',
    )
    .addHelpText('after', '\nExamples:\n  incrawl export-db | gzip > crawldb.jsonl.gz');
  command.action(() =>
    run(command, (session) =>
      session.withSnapshot(async (crawler) => {
        for await (const line of crawler.exportDb()) await session.out.write(`${line}\n`);
      }),
    ),
  );
}

export function addImportDb(program: Command, run: Run): void {
  const command = program
    .command('import-db')
    .argument('[file]', 'of export-db; default, and -: stdin')
    .description(
      'Read a crawl db back that export-db wrote. It becomes what was exported; the crawl db here must be empty.',
    )
    .option('--merge', 'add to what is here: what was visited last is believed')
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  gunzip < crawldb.jsonl.gz | incrawl import-db --dir crawldb-new');
  command.action((file: string | undefined, flags: { readonly merge?: true; readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const isFile = file !== undefined && file !== '-';
      if (isFile && !existsSync(file)) return session.refuse(`no such file: ${file}`);
      const lines = isFile ? linesOfFile(file) : linesOf(session.surroundings.stdin());
      const { dryRun = false } = flags;
      const summary = await asAsked(session, dryRun, (crawler) =>
        crawler.importDb(lines, flags.merge ? 'merge' : 'whole'),
      );
      await session.out.write(
        session.json ? `${jsonOf(summary, dryRun)}\n` : `${dryRunNotice(dryRun)}${transferText(summary)}.\n`,
      );
    }),
  );
}

export function addMerge(program: Command, run: Run): void {
  const command = program
    .command('merge')
    .argument('<dir...>', 'state directories of other crawls; they are not changed')
    .description('Add other crawls to this one: records, outlinks, host facts, and the segments that are done with.')
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  incrawl merge ../news/crawldb ../blogs/crawldb --dir crawldb');
  command.action((dirs: readonly string[], { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const own = dirs.find((dir) => placeOf(dir) === placeOf(session.options.dir));
      if (own !== undefined) return session.refuse(`${own} is this crawl itself`);
      const summaries = await asAsked(session, dryRun, async (crawler) => {
        const done: MergeSummary[] = [];
        for (const dir of dirs) done.push(await crawler.merge(dir));
        return done;
      });
      const text = summaries.map(
        (summary) => `${summary.from}: ${transferText(summary)}, ${count(summary.segments.length)} segments.\n`,
      );
      await session.out.write(
        session.json ? `${jsonOf(summaries, dryRun)}\n` : `${dryRunNotice(dryRun)}${text.join('')}`,
      );
    }),
  );
}

/** Two names may lead to one folder. */
const placeOf = (dir: string): string => (existsSync(dir) ? realpathSync(dir) : resolve(dir));

function transferText({ records, links, hosts, merged }: TransferSummary): string {
  const both = merged === 0 ? '' : ` (${count(merged)} were here already)`;
  return `${count(records)} records${both}, outlinks of ${count(links)} pages, facts of ${count(hosts)} hosts`;
}

export function addRepartition(program: Command, run: Run): void {
  const command = program
    .command('repartition')
    .description(
      'Cut the crawl db into one for each node, by host or registrable domain (partition.by). When a node is added, about one host in n+1 moves. Segments stay here.',
    )
    .requiredOption('--nodes <names>', 'names of the nodes, parted by commas')
    .requiredOption('--out <folder>', 'new or empty; each node gets FOLDER/NAME as its state directory')
    .option('--dry-run', 'only say which node would get how much; nothing is written')
    .addHelpText('after', '\nExamples:\n  incrawl repartition --nodes north,south --out shares');
  command.action((flags: { readonly nodes: string; readonly out: string; readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const { dryRun = false } = flags;
      const nodes = flags.nodes.split(',').map((name) => name.trim());
      const summary = await asAsked(session, dryRun, (crawler) =>
        crawler.repartition({ nodes, out: flags.out, dryRun }),
      );
      const text = summary.nodes.map(
        ({ dir, records, hosts }) => `${dir}: ${count(records)} records of ${count(hosts)} hosts\n`,
      );
      await session.out.write(
        session.json ? `${jsonOf(summary, dryRun)}\n` : `${dryRunNotice(dryRun)}${text.join('')}`,
      );
    }),
  );
}
