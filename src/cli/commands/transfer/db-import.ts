import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { isForPartitions } from '../../../operations/state/cluster-mark.ts';
import { counted } from '../../../render/quantities.ts';
import { KNOWN, SPELLED_OTHERWISE, transferText } from '../../../render/text/reparse-text.ts';
import { linesOf, linesOfFile } from '../../input/seed-sources.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

const ONLY_WHOLE = 'a crawl is imported into partitions as a whole: --merge and --dry-run are for one crawl db';

async function importSpread(session: Session, lines: AsyncIterable<string>) {
  const { importSpread: imported } = await import('../../../care/transfer/import-spread.ts');
  return imported(await session.stateOptions({}), lines);
}

export function addDbImport(program: Command, run: Run): void {
  const command = program
    .command('import')
    .argument('[file]', 'output of "db export", or a dump of a Nutch crawl db as JSON or CSV; default, and -: stdin')
    .description(
      'Read the output of "incrawl db export", or of "nutch readdb CRAWLDB -dump OUT -format json" (or csv), into the ' +
        'crawl db, which must be empty.',
    )
    .option('--merge', 'add to an existing crawl db; of two records of a URL the one visited last wins')
    .option('--dry-run', DRY_RUN)
    .addHelpText(
      'after',
      '\nExamples:\n  gunzip < crawldb.jsonl.gz | incrawl db import --dir crawldb-new\n  cat OUT/part-r-* | incrawl db import',
    );
  command.action((file: string | undefined, flags: { readonly merge?: true; readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const isFile = file !== undefined && file !== '-';
      if (isFile && !existsSync(file)) return session.refuse(`no such file: ${file}`);
      const lines = isFile ? linesOfFile(file) : linesOf(session.surroundings.stdin());
      const { dryRun = false } = flags;
      const mode = flags.merge ? 'merge' : 'whole';
      const isSpread = isForPartitions(session.options.dir, session.config);
      if (isSpread && (dryRun || mode === 'merge')) return session.refuse(ONLY_WHOLE);
      const summary = await (isSpread
        ? importSpread(session, lines)
        : withCrawlerOrCopy(session, dryRun, (crawler) => crawler.importDb(lines, mode), { mustExist: false }));
      const { skipped } = summary;
      const left = skipped === 0 ? '' : `${counted(skipped, 'URL')} skipped: they cannot be crawled.\n`;
      await writeAnswer(
        session,
        summary,
        () => `${transferText(summary, flags.merge ? KNOWN : SPELLED_OTHERWISE)}.\n${left}`,
        dryRun,
      );
    }),
  );
}
