import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ChangeKind, ChangesQuery, Crawler } from '../../crawler.ts';
import { CHANGE_KINDS } from '../../domain/crawl/page-change.ts';
import { near } from '../../domain/near-name.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { CHANGE_COLUMNS } from '../render/columns.ts';
import { type ListFormat, writeListing } from '../render/listing.ts';
import { count } from '../render/quantities.ts';
import type { Session } from '../session.ts';
import { moment, wholeNumber } from '../shared-options.ts';

interface ChangesFlags {
  readonly since?: Since;
  readonly kind?: readonly ChangeKind[];
  readonly host?: string;
  readonly minDistance?: number;
  readonly limit?: number;
  readonly format?: ListFormat;
}

type Since = { readonly after: number } | { readonly notedFrom: number };

/** Shown when nobody says since when. */
const NEWEST = 50;

export function addChanges(program: Command, run: Run): void {
  const command = program
    .command('changes')
    .description(
      'What became of pages: new, modified, moved, gone, back, duplicate; oldest first. Without --since the newest 50.',
    )
    .option(
      '--since <when>',
      'only what was noted since then (yesterday, 2d, 2026-03-01), or behind this number',
      since,
    )
    .option('--kind <kinds>', `only these, separated by commas: ${CHANGE_KINDS.join(', ')}`, changeKinds)
    .option('--host <host>', 'only pages of this host (host or host:port)')
    .option('--min-distance <bits>', 'leave out modifications with a smaller distance', wholeNumber(0))
    .option('--limit <n>', 'entries at most', wholeNumber(1))
    .addOption(new Option('--format <format>', '--json prints one JSON array').choices(['table', 'jsonl', 'csv']))
    .addHelpText(
      'after',
      `
Examples:
  incrawl changes --since yesterday
  incrawl changes --since 2026-03-01 --kind modified,gone --min-distance 4 --format csv > changes.csv
  incrawl changes --since 1841 --format jsonl`,
    );
  command.action((flags: ChangesFlags) =>
    run(command, (session) => session.withCrawler((crawler) => list(session, crawler, flags))),
  );
}

async function list(session: Session, crawler: Crawler, flags: ChangesFlags): Promise<number> {
  const query = queryOf(flags);
  const format = flags.format ?? (session.json ? 'json' : 'table');
  await tellMissed(session, crawler, flags.since);
  const written = await writeListing(session.out, crawler.changes(query), {
    format,
    columns: CHANGE_COLUMNS,
    bold: session.bold,
  });
  if (written === 0 && format === 'table') session.note('No changes.');
  return EXIT.done;
}

function queryOf({ since: from, kind, host, minDistance, limit }: ChangesFlags): ChangesQuery {
  return {
    ...from,
    ...(kind === undefined ? {} : { kinds: kind }),
    ...(host === undefined ? {} : { host }),
    ...(minDistance === undefined ? {} : { minDistance }),
    ...(limit === undefined ? {} : { limit }),
    ...(from === undefined ? { newest: true, limit: limit ?? NEWEST } : {}),
  };
}

/** Entries that are not kept any more are missing in the answer: that must be said. */
async function tellMissed(session: Session, crawler: Crawler, from: Since | undefined): Promise<void> {
  if (from === undefined || !('after' in from)) return;
  const { first, last } = await crawler.changeFeed();
  const missed = (first ?? last + 1) - from.after - 1;
  if (missed > 0 && last > from.after) {
    session.note(`${count(missed)} entries behind ${from.after} are not kept any more (changes.keep, changes.max).`);
  } else if (from.after > last) {
    session.note(
      `The feed ends at ${last}: number ${from.after} belongs to another crawl db, or to a newer copy of this one.`,
    );
  }
}

/** A number of the feed, or a time. */
function since(text: string): Since {
  if (/^\d+$/.test(text)) return { after: wholeNumber(0)(text) };
  if (text === 'yesterday') return { notedFrom: moment('1d') };
  try {
    return { notedFrom: moment(text) };
  } catch {
    throw new InvalidArgumentError(
      'Expected yesterday, a time such as 2026-03-01 or 2026-03-01T08:00Z, how long ago such as 2h or 3d, or a number of the feed.',
    );
  }
}

function changeKinds(text: string): ChangeKind[] {
  return text.split(',').map((word) => {
    const kind = CHANGE_KINDS.find((each) => each === word.trim());
    if (kind !== undefined) return kind;
    const guess = near(word, CHANGE_KINDS);
    throw new InvalidArgumentError(
      `Expected one of ${CHANGE_KINDS.join(', ')}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`,
    );
  });
}
