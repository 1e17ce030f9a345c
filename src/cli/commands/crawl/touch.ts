import type { Command } from 'commander';
import type { Crawler } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { linesOf } from '../../input/line-reader.ts';
import { asAsked, DRY_RUN } from '../../program/dry-run.ts';
import { moment } from '../../program/option-values.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
import { count } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';

interface TouchFlags {
  readonly at?: number;
  readonly stdin?: true;
  readonly add?: true;
  readonly dryRun?: true;
}

export function addTouch(program: Command, run: Run): void {
  const command = program
    .command('touch')
    .argument('[url...]', 'known URLs; - or --stdin reads them from stdin, one per line')
    .description(
      'Make known URLs due now, such as after a change notice. They rank before all others, in up to half of a round.',
    )
    .option('--at <when>', 'due at this time instead: such as 2026-03-01T08:00Z', moment)
    .option('--stdin', 'read URLs from stdin, one per line')
    .option('--add', 'inject unknown URLs')
    .option('--dry-run', DRY_RUN)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl touch https://example.org/news\n  changed-urls | incrawl touch --stdin --add',
    );
  command.action((words: readonly string[], flags: TouchFlags) =>
    run(command, async (session) => {
      const urls = words.filter((word) => word !== '-');
      if (flags.stdin || urls.length < words.length) {
        for await (const line of linesOf(session.surroundings.stdin())) if (line.trim() !== '') urls.push(line.trim());
      }
      if (urls.length === 0) return session.refuse('expected URLs, or --stdin');
      const dryRun = flags.dryRun === true;
      const touch = async (crawler: Crawler) => {
        const touched = await crawler.touch(urls, flags.at === undefined ? {} : { at: flags.at });
        const isAdded = flags.add === true && touched.unknown.length > 0;
        const injected = isAdded ? await crawler.inject([{ name: 'touch', lines: touched.unknown }]) : null;
        return { summary: touched, added: injected?.injected ?? 0 };
      };
      const mustExist = flags.add !== true;
      const { summary, added } = await asAsked(session, dryRun, touch, { mustExist });
      const answer = { ...summary, added };
      const { touched, unmoved, unknown } = summary;
      const rest = flags.add ? `${count(added)} added` : `${count(unknown.length)} unknown`;
      const text = `${count(touched)} made due, ${count(unmoved)} due by then already, ${rest}.\n`;
      await writeSummary(session, answer, () => text, dryRun);
      if (!session.json) {
        for (const { url, error } of summary.invalid) session.note(`${safeText(url)}: ${safeText(error)}`);
        if (!flags.add) for (const url of unknown.slice(0, 20)) session.note(`Not in the crawl db: ${safeText(url)}`);
      }
      return touched + unmoved + added === 0 ? EXIT.error : EXIT.done;
    }),
  );
}
