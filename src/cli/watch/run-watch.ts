import { join } from 'node:path';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { Crawler, CrawlSummary } from '../../crawler/index.ts';
import { deliverEvents } from '../../delivery/watch/deliver-events.ts';
import { type Receiver, receiverOf } from '../../delivery/watch/receivers.ts';
import {
  type Delivered,
  loadDelivered,
  loadWatchList,
  newWatchList,
  saveDelivered,
  saveWatchList,
  type WatchedPage,
} from '../../delivery/watch/watch-list.ts';
import { openHealthFile } from '../../remote/schedule/health.ts';
import { askStatus, heldBy, schedulerLock, statusPath } from '../../remote/schedule/status-socket.ts';
import { shortTime } from '../../render/columns.ts';
import { EXIT, exitCodeOfCrawl } from '../../render/exit.ts';
import type { Log } from '../../render/log.ts';
import { counted } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { secretOf } from '../changes/webhook.ts';
import { stopNote, withStopSignal } from '../process/stop-signal.ts';
import { writeList } from '../program/write-answer.ts';
import { everyTimetable, firstHealth, runSchedule, type ScheduleDeps } from '../schedule/run-schedule.ts';
import type { Session } from '../session.ts';
import { chainOf, type LookOptions, look } from './look.ts';
import { reportedChange, standardOutput } from './report.ts';
import { seedLine, type WantedPage, wantedPages, withoutPages, withPages } from './wanted-pages.ts';

export interface WatchOptions {
  readonly every: { readonly ms: number; readonly text: string };
  readonly select?: readonly string[];
  readonly notify?: readonly string[];
  readonly secretFile?: string;
  readonly anyChange?: true;
  readonly once?: true;
}

/** Adds the pages of the words to the list, and watches all that are in it: once, or until a signal. */
export async function runWatch(session: Session, words: readonly string[], options: WatchOptions): Promise<number> {
  const { dir } = session.options;
  const { every, once, select } = options;
  await requireAlone(dir);
  const receivers = await receiversOf(session, options);
  const wanted = await wantedPages(session, words, select);
  if (wanted.length === 0 && !loadWatchList(dir)?.pages.length) {
    return session.refuse(`nothing is watched in ${dir} so far: give URLs, as in incrawl watch https://example.org/`);
  }
  const log = await session.log();
  const startedAt = session.now();
  const scheduler = { pid: process.pid, timetable: everyTimetable(every.ms, startedAt, every.text), startedAt };
  const health = openHealthFile(join(dir, 'health.json'), log);
  const lock = schedulerLock(dir, () => health.last ?? firstHealth(scheduler), log);
  const onStop = (): void => session.note(stopNote('the pages in flight'));
  try {
    await session.withCrawler(async (crawler) => {
      await lock.acquire();
      await begin(session, crawler, wanted);
    });
    registerReceivers(dir, receivers);
    return await withStopSignal(session.surroundings, onStop, async (signal) => {
      const deps = { session, options, receivers, stop: signal };
      if (once) {
        const { summary, isDelivered } = await lookAndReport(deps, { signal });
        const code = exitCodeOfCrawl(summary);
        return code === EXIT.done && !isDelivered ? EXIT.error : code;
      }
      const { pages } = loadWatchList(dir) ?? { pages: [] };
      session.note(
        `Watching ${counted(pages.length, 'page')} every ${every.text}. Ctrl-C ends it; the same command goes on.`,
      );
      const crawl: ScheduleDeps['crawl'] = async (own, onProgress) =>
        (await lookAndReport(deps, { signal: own, onProgress })).summary;
      const { now, sleepUntil } = session;
      const schedule = { scheduler, jitterMs: 0, now, sleepUntil, random: Math.random, crawl, health };
      await runSchedule({ ...schedule, log: shownLog(session, log) }, signal);
      return EXIT.done;
    });
  } finally {
    await lock.close();
  }
}

/** Refuses beside another watch or schedule on the same state directory. */
async function requireAlone(dir: string): Promise<void> {
  const other = await askStatus(statusPath(dir));
  if (other !== null) throw heldBy(other, dir);
}

async function receiversOf(session: Session, { notify = [], secretFile }: WatchOptions): Promise<readonly Receiver[]> {
  const { env } = session.surroundings;
  const options = { env, secret: await secretOf(session, secretFile), now: session.now };
  return [standardOutput(session), ...[...new Set(notify)].map((word) => receiverOf(word, options))];
}

/** A receiver that is new hears of what happens from now on. */
function registerReceivers(dir: string, receivers: readonly Receiver[]): void {
  const lastSeq = loadWatchList(dir)?.lastSeq ?? 0;
  const all = Object.fromEntries(receivers.map(({ key }) => [key, lastSeq]));
  saveDelivered(dir, { ...all, ...loadDelivered(dir) });
}

/** Adds pages to the list. Refuses a state directory in which something else is crawled. */
async function begin(session: Session, crawler: Crawler, wanted: readonly WantedPage[]): Promise<void> {
  const { dir } = session.options;
  const before = loadWatchList(dir);
  const { urls, byStatus } = await crawler.stats();
  if (before === null && urls > (byStatus.unfetched ?? 0)) {
    return session.refuse(`${dir} holds a crawl: name another state directory for the watch, such as --dir watched`);
  }
  const { list, fresh } = withPages(before ?? newWatchList(session.now()), wanted);
  if (list.pages.some(({ select }) => select.length > 0)) await requirePartFilter(session, crawler);
  if (fresh.length === 0) return;
  const chains = await Promise.all(
    fresh.map(async ({ url, select }) => (await chainOf(crawler, url)).map(([each]) => seedLine(each, select))),
  );
  const lines = chains.flat();
  // A page that may not be visited, as no contact is set, does not enter the list.
  await crawler.prepare([{ name: 'watch', lines }]);
  saveWatchList(dir, list);
  await crawler.inject([{ name: 'watch', lines }], { mode: 'overwrite' });
}

async function requirePartFilter(session: Session, crawler: Crawler): Promise<void> {
  const plugins = await crawler.plugins();
  if (plugins.some(({ name }) => name === 'parsefilter-part')) return;
  const { file } = session.config.plugins;
  session.refuse(`--select needs a plugin: add the line "- parsefilter-part" below the other parse filters in ${file}`);
}

interface LookDeps {
  readonly session: Session;
  readonly options: WatchOptions;
  readonly receivers: readonly Receiver[];
  /** Ends deliveries; the signal of a look ends its visits. */
  readonly stop: AbortSignal;
}

/** One look, and the delivery of what it has found: the state directory is open only during the visits. */
async function lookAndReport(
  { session, options, receivers, stop }: LookDeps,
  crawl: Omit<LookOptions, 'any' | 'everyMs'>,
): Promise<{ readonly summary: CrawlSummary; readonly isDelivered: boolean }> {
  const { dir } = session.options;
  const terms: LookOptions = { ...crawl, any: options.anyChange === true, everyMs: options.every.ms };
  const { list, summary } = await session.withCrawler((crawler) => look(session, crawler, terms), { mustExist: true });
  const deps = {
    save: (delivered: Delivered) => saveDelivered(dir, delivered),
    changeOf: reportedChange,
    note: (text: string) => session.note(text),
    now: session.now,
    random: Math.random,
    sleep: (ms: number, signal: AbortSignal) => session.sleepUntil(session.now() + ms, signal),
  };
  return { summary, isDelivered: await deliverEvents(deps, list, receivers, loadDelivered(dir), stop) };
}

/** What a schedule logs, as far as a person at a terminal wants it: failed visits have their own notes. */
function shownLog(session: Session, log: Log): Log {
  if (session.options.verbose) return log;
  const error: Log['error'] = (_message, fields) => {
    if (typeof fields?.error === 'string') session.complain(`incrawl: the look failed: ${fields.error}`);
  };
  return { ...log, info: () => {}, warn: () => {}, error };
}

/** Takes pages off the list. */
export async function removePages(session: Session, words: readonly string[]): Promise<number> {
  const { dir } = session.options;
  await requireAlone(dir);
  const urls = words.map((word) => {
    const canonical = canonicalUrl(word);
    return 'error' in canonical ? word : canonical.url;
  });
  const list = withoutPages(loadWatchList(dir) ?? newWatchList(session.now()), urls);
  saveWatchList(dir, list);
  session.note(`${counted(urls.length, 'page')} removed; ${counted(list.pages.length, 'page')} left.`);
  return EXIT.done;
}

const COLUMNS: readonly Column<WatchedPage>[] = [
  { title: 'url', max: 80, cell: ({ url }) => url },
  { title: 'state', cell: ({ seen }) => seen?.state ?? 'unread' },
  { title: 'last look (UTC)', rank: 1, cell: ({ seen }) => shortTime(seen?.visitedAt ?? null) },
  { title: 'select', rank: 2, cell: ({ select }) => select.join(', ') },
];

/** Prints the list. */
export async function listPages(session: Session): Promise<number> {
  const { pages } = loadWatchList(session.options.dir) ?? { pages: [] };
  await writeList(session, pages, COLUMNS, { empty: `Nothing is watched in ${session.options.dir}.` });
  return EXIT.done;
}
