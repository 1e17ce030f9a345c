import type { Command } from 'commander';
import { EXIT } from '../../exit.ts';
import { linesOf } from '../../input/line-reader.ts';
import { asAsked, DRY_RUN, dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { moment } from '../../program/shared-options.ts';
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
      'Bring the next visit of known URLs forward: something told you that they have changed. They go ahead of all others, as far as half a round goes.',
    )
    .option('--at <when>', 'not now but then: a time such as 2026-03-01T08:00Z', moment)
    .option('--stdin', 'read URLs from stdin, one per line')
    .option('--add', 'inject those that are not known')
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
      const { summary, added } = await asAsked(session, dryRun, async (crawler) => {
        const touched = await crawler.touch(urls, flags.at === undefined ? {} : { at: flags.at });
        const isAdded = flags.add === true && touched.unknown.length > 0;
        const injected = isAdded ? await crawler.inject([{ name: 'touch', lines: touched.unknown }]) : null;
        return { summary: touched, added: injected?.injected ?? 0 };
      });
      if (session.json) await session.out.write(`${jsonOf({ ...summary, added }, dryRun)}\n`);
      else {
        const parts = [`${count(summary.touched)} brought forward`, `${count(summary.unmoved)} due by then anyway`];
        if (flags.add) parts.push(`${count(added)} added`);
        else parts.push(`${count(summary.unknown.length)} unknown`);
        await session.out.write(`${dryRunNotice(dryRun)}${parts.join(', ')}.\n`);
        for (const { url, error } of summary.invalid) session.note(`${safeText(url)}: ${safeText(error)}`);
        if (!flags.add)
          for (const url of summary.unknown.slice(0, 20)) session.note(`Not in the crawl db: ${safeText(url)}`);
      }
      return summary.touched + summary.unmoved + added === 0 ? EXIT.error : EXIT.done;
    }),
  );
}
