import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { ChangeKind } from '../../../crawler.ts';
import { CHANGE_KINDS } from '../../../domain/crawl/change/page-change.ts';
import type { ChangeReaderOptions, ChangeSource } from '../../../operations/changes/change-reader.ts';
import type { ChangesQuery } from '../../../operations/changes/changes.ts';
import { changeKinds, type FeedStart, feedStart } from '../../changes/feed-start.ts';
import { follow, LOOK_EVERY_MS } from '../../changes/follow.ts';
import { SECRET_VARIABLE, tellWebhook } from '../../changes/webhook.ts';
import { EXIT } from '../../exit.ts';
import type { Run } from '../../program/program.ts';
import { durationMs, hostName, wholeNumber } from '../../program/shared-options.ts';
import { CHANGE_COLUMNS } from '../../render/columns.ts';
import { type ListFormat, writeListing } from '../../render/listing.ts';
import { count } from '../../render/quantities.ts';
import type { Session } from '../../session.ts';

interface ChangesFlags {
  readonly since?: FeedStart;
  readonly kind?: readonly ChangeKind[];
  readonly host?: string;
  readonly minDistance?: number;
  readonly limit?: number;
  readonly format?: ListFormat;
  readonly follow?: true;
  readonly webhook?: string;
  readonly secretFile?: string;
  readonly batch: number;
  readonly retries: number;
  readonly timeout: number;
}

/** Shown when nobody says since when. */
const NEWEST = 50;

export function addChanges(program: Command, run: Run): void {
  const command = program
    .command('changes')
    .description(
      `What became of pages: ${CHANGE_KINDS.join(', ')}; oldest first. Without --since the newest ${NEWEST}.`,
    )
    .option(
      '--since <when>',
      'only what was noted since then (yesterday, 2d, 2026-03-01), or behind this number',
      feedStart,
    )
    .option('--kind <kinds>', 'only these kinds, separated by commas', changeKinds)
    .option('--host <host>', 'only pages of this host (host or host:port)', hostName)
    .option('--min-distance <bits>', 'leave out modifications with a smaller distance', wholeNumber(0))
    .option('--limit <n>', 'entries at most', wholeNumber(1))
    .addOption(
      new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']),
    )
    .option('--follow', 'then go on with what is added, a line for each, until a signal; with --json lines of JSON')
    .option(
      '--webhook <url>',
      'tell this address by signed POST what it has not been told yet; --since says where to begin',
    )
    .option(
      '--secret-file <file>',
      `what messages are signed with (default: the environment variable ${SECRET_VARIABLE})`,
    )
    .option('--batch <n>', 'changes in a message at most', wholeNumber(1), 100)
    .option(
      '--retries <n>',
      'further attempts, ever farther apart; with --follow there is no end of them',
      wholeNumber(0),
      5,
    )
    .addOption(
      new Option('--timeout <duration>', 'longest wait for an answer to a message')
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
  incrawl crawl && ${SECRET_VARIABLE}=... incrawl changes --webhook https://example.org/hook`,
    );
  command.action((flags: ChangesFlags) => run(command, (session) => answer(session, flags), 'when-asked'));
}

async function answer(session: Session, flags: ChangesFlags): Promise<number> {
  const { since, webhook, limit, format } = flags;
  const filter = filterOf(flags);
  if (flags.follow) noteMissing(session);
  if (webhook !== undefined) {
    if (limit !== undefined || format !== undefined) return session.refuse('--limit and --format are for lists');
    const { batch, timeout: timeoutMs } = flags;
    const more = { url: webhook, filter, batch, timeoutMs, ...(since === undefined ? {} : { since }) };
    const ends = flags.follow
      ? { retries: Number.POSITIVE_INFINITY, follow: { everyMs: LOOK_EVERY_MS } }
      : { retries: flags.retries };
    return tellWebhook(session, { ...more, ...ends }, flags.secretFile);
  }
  if (flags.follow) {
    if (limit !== undefined || format === 'csv' || format === 'table')
      return session.refuse('--follow prints lines: without --limit, --format jsonl or none');
    const startOf = () => session.withReader((feed) => startAt(session, feed, since));
    const reader: ChangeReaderOptions = { dir: session.options.dir, withFeed: (use) => session.withReader(use) };
    return follow(session, reader, filter, startOf, session.json || format === 'jsonl');
  }
  return session.withReader((feed) => list(session, feed, flags));
}

/** What follows a mistyped directory would wait for ever without a word. */
function noteMissing({ options: { dir }, note }: Session): void {
  if (existsSync(join(dir, 'db')) || existsSync(join(dir, 'cluster.json'))) return;
  note(`There is no crawl in ${dir} yet; its changes are told once there is one.`);
}

function filterOf({ kind, host, minDistance }: ChangesFlags): Pick<ChangesQuery, 'kinds' | 'host' | 'minDistance'> {
  return {
    ...(kind === undefined ? {} : { kinds: kind }),
    ...(host === undefined ? {} : { host }),
    ...(minDistance === undefined ? {} : { minDistance }),
  };
}

async function list(session: Session, feed: ChangeSource, flags: ChangesFlags): Promise<number> {
  const { since, limit } = flags;
  const format = flags.format ?? (session.json ? 'json' : 'table');
  await tellMissed(session, feed, since);
  const range = since === undefined ? { newest: true, limit: limit ?? NEWEST } : since;
  const query = { ...(limit === undefined ? {} : { limit }), ...range, ...filterOf(flags) };
  const written = await writeListing(session.out, feed.changes(query), {
    format,
    columns: CHANGE_COLUMNS,
    bold: session.bold,
  });
  if (written === 0 && format === 'table') session.note('No changes.');
  return EXIT.done;
}

/** The number behind which to follow: the end of the feed when nobody says since when. */
async function startAt(session: Session, feed: ChangeSource, since: FeedStart | undefined): Promise<number> {
  await tellMissed(session, feed, since);
  const { last } = await feed.changeFeed();
  if (since === undefined) return last;
  if ('after' in since) return since.after;
  for await (const { seq } of feed.changes({ ...since, limit: 1 })) return seq - 1;
  return last;
}

/** Entries that are not kept any more are missing in the answer: that must be said. */
async function tellMissed(session: Session, feed: ChangeSource, from: FeedStart | undefined): Promise<void> {
  if (from === undefined || !('after' in from)) return;
  const { first, last } = await feed.changeFeed();
  const missed = (first ?? last + 1) - from.after - 1;
  if (missed > 0 && last > from.after) {
    session.note(`${count(missed)} entries behind ${from.after} are not kept any more (changes.keep, changes.max).`);
  } else if (from.after > last) {
    session.note(
      `The feed ends at ${last}: number ${from.after} belongs to another crawl db, or to a newer copy of this one.`,
    );
  }
}
