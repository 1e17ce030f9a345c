import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Crawler } from '../../../crawler/index.ts';
import type { MergeSummary } from '../../../crawler/views.ts';
import { counted } from '../../../render/quantities.ts';
import { KNOWN, transferText } from '../../../render/text/reparse-text.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

export function addMerge(program: Command, run: Run): void {
  const command = program
    .command('merge')
    .argument('<dir...>', 'state directories of other crawls; they are not changed')
    .description('Add other crawls to this one: records, outlinks, host data, and finished segments.')
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  incrawl db merge ../news/crawldb ../blogs/crawldb --dir crawldb');
  command.action((dirs: readonly string[], { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const own = dirs.find((dir) => realPath(dir) === realPath(session.options.dir));
      if (own !== undefined) return session.refuse(`${own} is the state directory to merge into`);
      const merge = async (crawler: Crawler): Promise<MergeSummary[]> => {
        const done: MergeSummary[] = [];
        for (const dir of dirs) done.push(await crawler.merge(dir));
        return done;
      };
      const summaries = await withCrawlerOrCopy(session, dryRun, merge, { mustExist: false });
      await writeSummary(session, summaries, () => summaries.map(mergeText).join(''), dryRun);
    }),
  );
}

/** Two paths may lead to one folder. */
const realPath = (dir: string): string => (existsSync(dir) ? realpathSync(dir) : resolve(dir));

const mergeText = (summary: MergeSummary): string =>
  `${summary.from}: ${transferText(summary, KNOWN)}, ${counted(summary.segments.length, 'segment')}.\n`;
