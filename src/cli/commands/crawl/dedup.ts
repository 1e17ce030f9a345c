import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DedupSummary, DuplicateView } from '../../../crawler.ts';
import { PREFERENCES } from '../../../domain/crawl/states/duplicate.ts';
import { EXIT } from '../../exit.ts';
import { asAsked } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { wholeNumber } from '../../program/shared-options.ts';
import { count } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';

interface DedupFlags {
  readonly distance?: number;
  readonly scope?: 'host' | 'domain' | 'all';
  readonly prefer: readonly (typeof PREFERENCES)[number][];
  readonly incoming?: string;
  readonly minChars?: number;
  readonly dryRun?: true;
  readonly undo?: true;
}

/** Duplicates that the summary of one run names. */
const LISTED = 10_000;
const SHOWN = 20;

export function addDedup(program: Command, run: Run): void {
  const command = program
    .command('dedup')
    .description(
      'Find pages that repeat others by their signatures, and mark them as duplicates of one representative. They are still visited; running it again makes the groups anew.',
    )
    .option('--distance <bits>', 'signatures may differ by this much, 0 to 3; default: dedup.maxDistance', distance)
    .addOption(scopeOption())
    .option('--prefer <order>', 'who represents a group: criteria parted by commas', preferences, [...PREFERENCES])
    .option(
      '--incoming <segment>',
      'only compare with the pages of this segment, which represent: a new batch against the library',
    )
    .option('--min-chars <n>', 'pages with less text repeat nothing; default: dedup.minChars', wholeNumber(0))
    .option('--dry-run', 'only say what would be marked')
    .option('--undo', 'give all pages that dedup has marked their states back')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl dedup --dry-run\n  incrawl dedup --scope all --prefer https,shortest\n  incrawl dedup --undo',
    );
  command.action((flags: DedupFlags) =>
    run(command, (session) =>
      asAsked(session, flags.dryRun === true, async (crawler) => {
        const dryRun = flags.dryRun === true;
        if (flags.undo) {
          const restored = await crawler.undoDedup(dryRun);
          const text = `${count(restored)} ${dryRun ? 'would be restored' : 'restored'}.\n`;
          await session.out.write(session.json ? `${JSON.stringify({ restored, dryRun })}\n` : text);
          return EXIT.done;
        }
        const listed: DuplicateView[] = [];
        const { undo: _, ...request } = flags;
        const summary = await crawler.dedup({ ...request, dryRun }, (duplicate) => {
          if (listed.length < LISTED) listed.push(duplicate);
        });
        await session.out.write(
          session.json ? `${JSON.stringify({ ...summary, list: listed })}\n` : dedupText(summary, listed),
        );
        return EXIT.done;
      }),
    ),
  );
}

function dedupText(summary: DedupSummary, listed: readonly DuplicateView[]): string {
  const { pages, short, groups, duplicates, marked, restored, mirrors, dryRun } = summary;
  const lines = listed
    .slice(0, SHOWN)
    .map(({ url, of, distance: bits }) => `${safeText(url)}\n    repeats ${safeText(of)} (${bits} bits)`);
  if (duplicates > SHOWN) lines.push(`and ${count(duplicates - SHOWN)} more`);
  for (const { host, of, pages: repeated } of mirrors) lines.push(`${host} repeats ${count(repeated)} pages of ${of}`);
  lines.push(
    `${count(pages)} pages compared: ${count(duplicates)} repeat one of ${count(groups)}; ${count(marked)} ${dryRun ? 'would be marked' : 'marked'}, ${count(restored)} ${dryRun ? 'would be restored' : 'restored'}.`,
  );
  if (short > 0) lines.push(`${count(short)} with little text left out.`);
  return `${lines.join('\n')}\n`;
}

interface NearFlags {
  readonly distance: number;
  readonly limit: number;
  readonly scope?: 'host' | 'domain' | 'all';
}

const scopeOption = (): Option =>
  new Option('--scope <scope>', 'pages that are compared; default: dedup.scope').choices(['host', 'domain', 'all']);

export function addNear(program: Command, run: Run): void {
  const command = program
    .command('near')
    .argument('<url>', 'a known page')
    .description(
      'Pages whose signatures are near that of a page, nearest first. Up to 3 bits the tables of signatures answer at once; beyond, and beyond the scope of dedup.scope, records are read.',
    )
    .option('-k, --distance <bits>', 'largest distance, 0 to 64', wholeNumber(0, 64), 3)
    .addOption(scopeOption())
    .option('--limit <n>', 'pages at most', wholeNumber(1), 50)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl near https://example.org/news/1\n  incrawl near https://example.org/news/1 -k 6 --scope all',
    );
  command.action((url: string, flags: NearFlags) =>
    run(command, (session) =>
      session.withReader(
        async (crawler) => {
          const pages = await crawler.near(url, flags);
          if (session.json) await session.out.write(`${JSON.stringify(pages)}\n`);
          else
            for (const page of pages ?? [])
              await session.out.write(
                `${String(page.distance).padStart(2)}  ${safeText(page.url)}  ${safeText(page.title ?? '')}\n`,
              );
          if (pages === null) session.note(`Not known, or without a signature: ${safeText(url)}`);
          else if (pages.length === 0) session.note(`No page within ${flags.distance} bits.`);
          return pages === null ? EXIT.error : EXIT.done;
        },
        { withIndexes: true },
      ),
    ),
  );
}

function distance(value: string): number {
  const bits = Number(value);
  if (!Number.isInteger(bits) || bits < 0 || bits > 3) {
    throw new InvalidArgumentError('expected 0 to 3: beyond three bits, pairs would be missed without a word.');
  }
  return bits;
}

function preferences(value: string): (typeof PREFERENCES)[number][] {
  return value.split(',').map((name) => {
    const found = PREFERENCES.find((each) => each === name.trim());
    if (found === undefined) throw new InvalidArgumentError(`expected criteria out of ${PREFERENCES.join(', ')}.`);
    return found;
  });
}
