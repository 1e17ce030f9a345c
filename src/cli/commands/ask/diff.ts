import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Crawler, PageDiff } from '../../../crawler/index.ts';
import type { PageVersion, VersionChoice } from '../../../crawler/views.ts';
import { moment } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { diffHtml, type Pictures } from '../../../render/html/diff-html.ts';
import { safeText } from '../../../render/safe-text.ts';
import { type Column, table } from '../../../render/table.ts';
import { diffText } from '../../../render/text/diff-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

interface DiffFlags {
  readonly from?: string;
  readonly to?: string;
  readonly list?: true;
  readonly full?: true;
  readonly html?: string;
}

export function addDiff(program: Command, run: Run): void {
  const command = program
    .command('diff')
    .argument('<url>')
    .description('What changed between two stored versions of a page, word by word. Needs no crawl db.')
    .option(
      '--from <version>',
      'a segment, or a time: the version of that time; default: the last version with other content',
    )
    .option('--to <version>', 'a segment, or a time; default: the newest version')
    .option('--list', 'list the stored versions')
    .option('--full', 'the whole text, not only the parts around changes')
    .option('--html <file>', 'write both versions side by side, with their screenshots, as a page for a browser')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl diff https://example.org/news/\n  incrawl diff https://example.org/news/ --from 2026-03-01 --html changes.html',
    );
  command.action((url: string, flags: DiffFlags) =>
    run(command, async (session) => {
      const { bold, color } = session;
      return session.withSegments(async (crawler) => {
        if (flags.list) {
          const versions = await crawler.versions(url);
          await writeAnswer(session, { url, versions }, () => table(VERSION_COLUMNS, versions, session));
          if (versions.length === 0 && !session.json) session.note(`No segment holds the content of ${safeText(url)}.`);
          return versions.length === 0 ? EXIT.error : EXIT.done;
        }
        const known = new Set((await crawler.segments()).map(({ id }) => id));
        const from = flags.from === undefined ? {} : { from: choiceOf(flags.from, known, '--from') };
        const to = flags.to === undefined ? {} : { to: choiceOf(flags.to, known, '--to') };
        const diff = await crawler.diff(url, { ...from, ...to });
        if (flags.html !== undefined) await writeFile(flags.html, diffHtml(diff, await picturesOf(crawler, diff)));
        await writeAnswer(session, diff, () => diffText(diff, { bold, color, full: flags.full === true }));
        return EXIT.done;
      }, url);
    }),
  );

  function choiceOf(text: string, segments: ReadonlySet<string>, option: string): VersionChoice {
    if (segments.has(text)) return { segment: text };
    try {
      return { at: moment(text) };
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      return command.error(
        `error: ${option} ${text}: expected a segment ("incrawl readseg --list"), or a time such as 2026-03-01 or 3d`,
      );
    }
  }
}

async function picturesOf(crawler: Crawler, { url, from, to }: PageDiff): Promise<Pictures> {
  const png = async ({ segment, hasScreenshot }: PageDiff['from']): Promise<Uint8Array | null> =>
    hasScreenshot ? ((await crawler.screenshot(url, segment))?.png ?? null) : null;
  return { from: await png(from), to: await png(to) };
}

const VERSION_COLUMNS: readonly Column<PageVersion>[] = [
  { title: 'fetched', cell: ({ at }) => at },
  { title: 'segment', cell: ({ segment }) => segment },
  { title: 'digest', rank: 1, cell: ({ digest }) => digest },
];
