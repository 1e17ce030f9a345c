import type { Command } from 'commander';
import type { NearPage } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { wholeNumber } from '../../program/option-values.ts';
import type { Run } from '../../program/program.ts';
import { scopeOption } from '../../program/shared-options.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import { safeText } from '../../render/safe-text.ts';

interface NearFlags {
  readonly distance: number;
  readonly limit: number;
  readonly scope?: 'host' | 'domain' | 'all';
}

export function addNear(program: Command, run: Run): void {
  const command = program
    .command('near')
    .argument('<url>', 'a known page')
    .description(
      'Near-duplicates of a page by the distance of signatures for likeness, nearest first. Up to 3 bits within ' +
        'dedup.scope the signature index answers at once; anything beyond reads the records.',
    )
    .option('-k, --distance <bits>', 'largest distance, 0 to 64', wholeNumber(0, 64), 3)
    .addOption(scopeOption())
    .option('--limit <n>', 'at most this many pages', wholeNumber(1), 50)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl near https://example.org/news/1\n  incrawl near https://example.org/news/1 -k 6 --scope all',
    );
  command.action((url: string, flags: NearFlags) =>
    run(command, (session) =>
      session.withReader(
        async (crawler) => {
          const pages = await crawler.near(url, flags);
          await writeAnswer(session, pages, () => (pages ?? []).map(lineOf).join(''));
          if (pages === null) session.note(`Unknown URL, or a page without a signature: ${safeText(url)}`);
          else if (pages.length === 0) session.note(`No page within ${flags.distance} bits.`);
          return pages === null ? EXIT.error : EXIT.done;
        },
        { withIndexes: true },
      ),
    ),
  );
}

const lineOf = ({ distance, url, title }: NearPage): string =>
  `${String(distance).padStart(2)}  ${safeText(url)}  ${safeText(title ?? '')}\n`;
