// cli/commands/ask/: commands that answer questions and change nothing.

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { packageVersion } from '../../../core/config/package-version.ts';
import { cursorText, type FeedCursor, isBehind, vectorOf } from '../../../core/domain/crawl/change/change-feed.ts';
import { CHANGE_KINDS } from '../../../core/domain/crawl/change/page-change.ts';
import type { ChangeKind, ChangeView } from '../../../crawler/index.ts';
import type { ChangeReaderOptions, ChangeSource } from '../../../delivery/changes/change-reader.ts';
import { type ChangesFilter, endOf, loadCursor, saveCursor } from '../../../delivery/changes/changes.ts';
import { hasCrawlDb } from '../../../operations/state/state-folder.ts';
import {
  changeKinds,
  durationMs,
  type FeedStart,
  feedStart,
  hostName,
  wholeNumber,
} from '../../../query/input/option-values.ts';
import { CHANGE_COLUMNS } from '../../../render/columns.ts';
import { EXIT } from '../../../render/exit.ts';
import type { ListFormat } from '../../../render/listing.ts';
import { count } from '../../../render/quantities.ts';
import { follow, POLL_MS } from '../../changes/follow.ts';
import { notifyWebhook, SECRET_VARIABLE } from '../../changes/webhook.ts';
import type { Run } from '../../program/program.ts';
import { writeList } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface ChangesFlags {
  readonly since?: FeedStart;
  readonly kind?: readonly ChangeKind[];
  readonly host?: string;
  readonly minDistance?: number;
  readonly limit?: number;
  readonly where?: string;
  readonly format?: ListFormat | 'atom';
  readonly cursor?: string;
  readonly follow?: true;
  readonly webhook?: string;
  readonly secretFile?: string;
  readonly batch: number;
  readonly retries: number;
  readonly timeout: number;
}

/** Entries listed without `--since`. */
const NEWEST = 50;

export function addChanges(program: Command, run: Run): void {
  const command = program
    .command('changes')
    .description(
      `The change feed, oldest entry first: ${CHANGE_KINDS.join(', ')}. Without --since the newest ${NEWEST}.`,
    )
    .option(
      '--since <when>',
      'only entries since then (yesterday, 2d, 2026-03-01), or after this entry number or cursor',
      feedStart,
    )
    .option('--kind <kinds>', 'only these kinds, separated by commas', changeKinds)
    .option('--host <host>', 'only pages of this host (host or host:port)', hostName)
    .option(
      '--min-distance <bits>',
      'leave out modifications with a smaller distance of change signatures',
      wholeNumber(0),
    )
    .option('--where <expr>', 'condition on the entry: kind, host, domain, at, distance, title, ..')
    .option('--limit <n>', 'at most this many entries', wholeNumber(1))
    .addOption(
      new Option(
        '--format <format>',
        'of lists; --json prints one JSON array; atom: a feed, newest entry first',
      ).choices(['table', 'jsonl', 'csv', 'atom']),
    )
    .option(
      '--cursor <file>',
      'print what is new since the last run with this file, and note in it where this run ended',
    )
    .option('--follow', 'keep printing new entries, one line each, until a signal; with --json lines of JSON')
    .option(
      '--webhook <url>',
      'POST new entries to this address, signed; a later run goes on where this one ended; --since sets the start',
    )
    .option('--secret-file <file>', `key of the signature (default: the environment variable ${SECRET_VARIABLE})`)
    .option('--batch <n>', 'at most this many changes in a message', wholeNumber(1), 100)
    .option(
      '--retries <n>',
      'further attempts after a failure, with growing pauses; unlimited with --follow',
      wholeNumber(0),
      5,
    )
    .addOption(
      new Option('--timeout <duration>', 'longest wait for the answer to a message')
        .argParser(durationMs)
        .default(15_000, '15s'),
    )
    .addHelpText(
      'after',
      `
Examples:
  incrawl changes --since yesterday
  incrawl changes --since 2026-03-01 --kind modified,gone --min-distance 4 --format csv > changes.csv
  incrawl changes --since 1841 --format jsonl
  incrawl changes --cursor read.txt --format jsonl >> changes.jsonl
  incrawl changes --where "domain = example.org and title ~ price" --format atom > changes.atom
  incrawl crawl && ${SECRET_VARIABLE}=... incrawl changes --webhook https://example.org/hook

"incrawl help query" names the fields and operators of --where. "incrawl serve" has the feed under /changes.atom.`,
    );
  command.action((flags: ChangesFlags) => run(command, (session) => changes(session, flags), 'when-asked'));
}

async function changes(session: Session, flags: ChangesFlags): Promise<number> {
  const { since, webhook, limit, format, cursor } = flags;
  const filter = filterOf(flags);
  if (webhook !== undefined) {
    if (limit !== undefined || format !== undefined || cursor !== undefined)
      return session.refuse('--limit, --format and --cursor are for lists');
    const { batch, timeout: timeoutMs } = flags;
    const more = { url: webhook, filter, batch, timeoutMs, ...(since === undefined ? {} : { since }) };
    const ends = flags.follow
      ? { retries: Number.POSITIVE_INFINITY, follow: { everyMs: POLL_MS } }
      : { retries: flags.retries };
    return notifyWebhook(session, { ...more, ...ends }, flags.secretFile);
  }
  if (flags.follow) {
    if (limit !== undefined || (format !== undefined && format !== 'jsonl'))
      return session.refuse('--follow prints lines: it goes with --format jsonl only, and without --limit');
    // Everything in a crawl that begins later is new.
    const startOf = async (): Promise<FeedCursor> => {
      const stored = cursor === undefined ? null : await knownCursor(session, cursor);
      if (stored !== null) return stored;
      return hasCrawlDb(session.options.dir)
        ? session.withReader((feed) => startAt(session, feed, since))
        : afterOf(since);
    };
    const onRead = (through: FeedCursor): void => {
      if (cursor !== undefined) saveCursor(cursor, through);
    };
    return follow(session, readerOf(session), filter, { startOf, onRead }, session.json || format === 'jsonl');
  }
  if (cursor !== undefined) return listNew(session, flags, cursor);
  return session.withReader((feed) => list(session, feed, flags));
}

const readerOf = (session: Session): ChangeReaderOptions => ({
  dir: session.options.dir,
  withFeed: (use) => session.withReader(use),
});

/** Prints what the file does not know yet, and then replaces the file. */
async function listNew(session: Session, flags: ChangesFlags, file: string): Promise<number> {
  const { since, limit, format } = flags;
  if (limit !== undefined || format === 'atom')
    return session.refuse('--cursor goes without --limit and --format atom');
  const { nextChanges } = await import('../../../delivery/changes/change-reader.ts');
  const from = since ?? { after: 0 };
  let read = (await knownCursor(session, file)) ?? (await session.withReader((feed) => startAt(session, feed, from)));
  const entries = async function* (): AsyncGenerator<ChangeView> {
    for (let hasMore = true; hasMore; ) {
      const window = await nextChanges(readerOf(session), filterOf(flags), read);
      yield* window.changes;
      ({ hasMore } = window);
      read = window.through;
    }
  };
  await writeList(session, entries(), CHANGE_COLUMNS, { format, empty: 'No changes.' });
  await session.out.flush();
  if (!session.out.closed) saveCursor(file, read);
  return EXIT.done;
}

/** The cursor of a file. Refused if it names changes that the crawl does not have: later ones would be missed. */
async function knownCursor(session: Session, file: string): Promise<FeedCursor | null> {
  const cursor = loadCursor(file);
  if (cursor === null || !hasCrawlDb(session.options.dir)) return cursor;
  const ends = await session.withReader((feed) => feed.changeFeed());
  const own = vectorOf(cursor, ends.each);
  if (!isBehind(endOf(ends), own)) return own;
  return session.refuse(
    `the cursor in ${file} names changes that this crawl has not noted: it belongs to another crawl, or to a newer ` +
      'copy of this one; remove the file to begin anew',
  );
}

function filterOf({ kind, host, minDistance, where }: ChangesFlags): ChangesFilter {
  return {
    ...(kind === undefined ? {} : { kinds: kind }),
    ...(host === undefined ? {} : { host }),
    ...(minDistance === undefined ? {} : { minDistance }),
    ...(where === undefined ? {} : { where }),
  };
}

async function list(session: Session, feed: ChangeSource, flags: ChangesFlags): Promise<number> {
  const { since, limit, format } = flags;
  await noteGap(session, feed, since);
  const range = since === undefined ? { newest: true, limit: limit ?? NEWEST } : since;
  const query = { ...(limit === undefined ? {} : { limit }), ...range, ...filterOf(flags) };
  if (format === 'atom') return writeAtom(session, feed, flags);
  await writeList(session, feed.changes(query), CHANGE_COLUMNS, { format, empty: 'No changes.' });
  return EXIT.done;
}

/** The newest entries of the list, newest first. */
async function writeAtom(session: Session, feed: ChangeSource, flags: ChangesFlags): Promise<number> {
  const { atomFeed } = await import('../../../render/text/atom-feed.ts');
  const { since = {}, limit = flags.since === undefined ? NEWEST : undefined } = flags;
  const filter = filterOf(flags);
  const entries: ChangeView[] = [];
  const query = { ...filter, ...since, newest: true, ...(limit === undefined ? {} : { limit }) };
  for await (const change of feed.changes(query)) entries.push(change);
  const dir = resolve(session.options.dir);
  const feedOf = { dir, filter, entries: entries.reverse(), version: packageVersion(), links: null };
  await session.out.write(atomFeed(feedOf));
  return EXIT.done;
}

const afterOf = (since: FeedStart | undefined): FeedCursor =>
  since !== undefined && 'after' in since ? since.after : 0;

/** The cursor after which to follow: without `--since` the end of the feed. */
async function startAt(session: Session, feed: ChangeSource, since: FeedStart | undefined): Promise<FeedCursor> {
  await noteGap(session, feed, since);
  if (since === undefined) return endOf(await feed.changeFeed());
  if ('after' in since) return since.after;
  return (await import('../../../delivery/changes/change-reader.ts')).startAt(feed, since);
}

/** Notes entries after the start that the feed no longer holds, or never held. */
async function noteGap(session: Session, feed: ChangeSource, from: FeedStart | undefined): Promise<void> {
  if (from === undefined || !('after' in from)) return;
  const ends = await feed.changeFeed();
  const [end, after] = [endOf(ends), vectorOf(from.after, ends.each)];
  const missed = ends.each.reduce((sum, { first }, i) => sum + Math.max(0, first - (after[i] ?? 0) - 1), 0);
  const shown = cursorText(from.after);
  if (isBehind(end, after)) {
    const whose = 'belongs to another crawl, or to a newer copy of this one';
    session.note(`The feed ends at ${cursorText(end)}, and ${shown} is after it: it ${whose}.`);
  } else if (missed > 0) {
    session.note(`${count(missed)} entries after ${shown} are no longer kept (changes.keep, changes.max).`);
  }
}
