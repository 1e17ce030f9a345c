import { type Command, InvalidArgumentError, Option } from 'commander';
import { PREFERENCES } from '../../../core/domain/crawl/states/duplicate.ts';
import type { AppliedPairs, DedupSummary, DuplicateView } from '../../../crawler/views.ts';
import { nameOf, scopeOption, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { count, counted } from '../../../render/quantities.ts';
import { printedJson, safeText } from '../../../render/safe-text.ts';
import { batchFiles } from '../../input/seed-sources.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { noteSent, wantsSummary, writeAnswer, writeText } from '../../program/write-answer.ts';

type Preference = (typeof PREFERENCES)[number];

interface DedupFlags {
  readonly distance?: number;
  readonly scope?: 'host' | 'domain' | 'all';
  readonly prefer: readonly Preference[];
  readonly incoming?: string;
  readonly apply?: readonly string[];
  readonly minChars?: number;
  readonly dryRun?: true;
  readonly undo?: true;
}

/** Duplicates listed in the JSON summary, and to people. */
const LISTED = 10_000;
const SHOWN = 20;

export function addDedup(program: Command, run: Run): void {
  const command = program
    .command('dedup')
    .description(
      'Find near-duplicate pages by their signatures, and mark all but one of each group. Marked pages are still ' +
        'visited; the next run groups all pages again.',
    )
    .option('--distance <bits>', 'largest signature distance, 0 to 3; default: dedup.maxDistance', distance)
    .addOption(scopeOption())
    .option('--prefer <order>', 'criteria for the page that stays unmarked, separated by commas', preferences, [
      ...PREFERENCES,
    ])
    .option(
      '--incoming <segment>',
      'compare only with the pages of this segment, which stay unmarked: a new batch against all others',
    )
    .addOption(
      new Option(
        '--apply <files...>',
        'compare only the pages in these files, and those that are marked: output of "incrawl mr reduce dedup", gzip ' +
          'or not, folders of such files, or - for stdin',
      ).conflicts('undo'),
    )
    .option('--min-chars <n>', 'leave out pages with less text; default: dedup.minChars', wholeNumber(0))
    .option('--dry-run', 'only say what would be marked')
    .option('--undo', 'restore the former state of every page that dedup marked')
    .addHelpText(
      'after',
      `
Examples:
  incrawl dedup --dry-run
  incrawl dedup --scope all --prefer https,shortest
  incrawl dedup --apply pairs/
  incrawl dedup --undo`,
    );
  command.action((flags: DedupFlags) =>
    run(command, (session) =>
      withCrawlerOrCopy(session, flags.dryRun === true, async (crawler) => {
        const dryRun = flags.dryRun === true;
        if (flags.undo) {
          const restored = await crawler.undoDedup(dryRun);
          const text = `${count(restored)} ${dryRun ? 'would be restored' : 'restored'}.\n`;
          if (wantsSummary(session, dryRun)) await writeAnswer(session, { restored, dryRun }, () => text);
          return EXIT.done;
        }
        const listed: DuplicateView[] = [];
        const { undo: _, apply, ...rest } = flags;
        const request = { ...rest, dryRun };
        const list = (duplicate: DuplicateView): void => {
          if (listed.length < LISTED) listed.push(duplicate);
        };
        const summary =
          apply === undefined
            ? await crawler.dedup(request, list)
            : await crawler.applyPairs(await batchFiles(session, apply), request, list);
        noteSent(session, summary);
        if (!wantsSummary(session, dryRun)) return EXIT.done;
        if (session.json) await session.out.write(`${printedJson({ ...summary, list: listed })}\n`);
        else await writeText(session, dedupText(summary, listed));
        return EXIT.done;
      }),
    ),
  );
}

function dedupText(summary: DedupSummary | AppliedPairs, listed: readonly DuplicateView[]): string {
  const { pages, short, groups, duplicates, marked, restored, mirrors, dryRun } = summary;
  const lines = listed
    .slice(0, SHOWN)
    .map(({ url, of, distance: bits }) => `${safeText(url)}\n    duplicate of ${safeText(of)} (${bits} bits)`);
  if (duplicates > SHOWN) lines.push(`and ${count(duplicates - SHOWN)} more`);
  for (const { host, of, pages: repeated } of mirrors)
    lines.push(`${host} mirrors ${counted(repeated, 'page')} of ${of}`);
  const would = dryRun ? 'would be ' : '';
  lines.push(
    `${counted(pages, 'page')} compared: ${counted(duplicates, 'duplicate')} in ${counted(groups, 'group')}; ` +
      `${count(marked)} ${would}marked, ${count(restored)} ${would}restored.`,
  );
  if (short > 0) lines.push(`${counted(short, 'page')} with too little text left out.`);
  if ('unknown' in summary && summary.unknown > 0) {
    lines.push(`${counted(summary.unknown, 'URL')} of the files left out: the crawl db does not have them.`);
  }
  return `${lines.join('\n')}\n`;
}

function distance(value: string): number {
  const bits = Number(value);
  if (!Number.isInteger(bits) || bits < 0 || bits > 3) {
    throw new InvalidArgumentError('Expected 0 to 3: with more bits the signature index would miss pairs.');
  }
  return bits;
}

const preferences = (value: string): Preference[] =>
  value.split(',').map((name) => nameOf(name, PREFERENCES, `criteria out of ${PREFERENCES.join(', ')}`));
