import type { Command } from 'commander';
import type { NearPage } from '../../../crawler/views.ts';
import { scopeOption, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { safeText } from '../../../render/safe-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

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
      'Pages near a page by the distance of signatures for likeness, nearest first, with the share of their text that is ' +
        'the same, which decides whether one is a duplicate. Up to 3 bits within dedup.scope the signature index answers at once; anything beyond reads the records.',
    )
    .option('-k, --distance <bits>', 'largest distance, 0 to 64', wholeNumber(0, 64), 3)
    .addOption(scopeOption())
    .option('--limit <n>', 'at most this many pages', wholeNumber(1), 50)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl duplicates near https://example.org/news/1\n  incrawl duplicates near https://example.org/news/1 -k 6 --scope all',
    );
  command.action((url: string, flags: NearFlags) =>
    run(command, (session) =>
      session.withReader(
        async (crawler) => {
          const pages = await crawler.near(url, flags);
          await writeAnswer(session, pages, () => (pages ?? []).map(lineOf).join(''));
          if (pages === null) session.note(`Unknown URL, or a page without a signature: ${safeText(url)}`);
          else if (pages.length === 0) session.note(noneWithin(flags.distance));
          return pages === null ? EXIT.error : EXIT.done;
        },
        { withIndexes: true },
      ),
    ),
  );
}

/** Signatures of unrelated texts differ in about 32 of 64 bits; half of that is still informative. */
const FAR = 16;

const noneWithin = (bits: number): string =>
  `No page within ${bits} bits.${bits < FAR ? ` "-k ${FAR}" looks farther.` : ''}`;

/** A dash means that their texts are unknown, or cannot be copies. */
const lineOf = ({ distance, overlap, url, title }: NearPage): string =>
  `${String(distance).padStart(2)}  ${(overlap === null ? '-' : `${Math.round(100 * overlap)} %`).padStart(5)}  ${safeText(url)}  ${safeText(title ?? '')}\n`;
