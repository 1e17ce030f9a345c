import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import { numberOf } from '../../core/domain/crawl/change/change-feed.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { WebhookCursor, WebhookCursors } from '../../core/ports/webhook.ts';
import { refuseSpread } from '../../operations/state/cluster-mark.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { fileError, replaceFile } from '../../store/files/durable-file.ts';
import { createWebhook } from '../webhook/webhook.ts';
import {
  type ChangeReaderOptions,
  type ChangeWindow,
  followChanges,
  isUnavailable,
  nextChanges,
} from './change-reader.ts';
import type { ChangesFilter, ChangesQuery } from './changes.ts';
import { type DeliverySummary, deliverChanges } from './deliver-changes.ts';

export interface WebhookDeliveryOptions extends ChangeReaderOptions {
  readonly url: string;
  /** Key of the signature; `null`: messages are not signed. */
  readonly secret: string | null;
  readonly filter: ChangesFilter;
  /** Start of the delivery; default: the end of the last one. */
  readonly since?: Pick<ChangesQuery, 'after' | 'notedFrom'>;
  /** Entries in a message at most. */
  readonly batch: number;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Continues until the signal comes, with a pause between two reads, ms. */
  readonly follow?: { readonly everyMs: number };
  readonly note: (text: string) => void;
  /** Default: that of the machine. */
  readonly clock?: Clock;
}

export interface WebhookSummary extends DeliverySummary {
  /** All changes up to this number have been delivered or filtered out. */
  readonly cursor: number;
  /** Entries that were trimmed before delivery. */
  readonly missed: number;
}

/**
 * Delivers the changes since the last delivery to a webhook. The crawl db is open only while entries are read, never
 * during a request. Rejects with `usage-invalid` for an address that is not http or https, with `db-locked` (without
 * `follow`) while a crawl holds the db and does not answer.
 */
export async function deliverToWebhook(options: WebhookDeliveryOptions): Promise<WebhookSummary> {
  const { url, note, signal, clock = systemClock } = options;
  checkUrl(url);
  refuseSpread(resolve(options.dir));
  const cursors = createWebhookCursors(join(resolve(options.dir), 'webhooks'));
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, signal).catch(() => {});
  let cursor = await startWhenFree(options, await cursors.load(url), sleep);
  const save = async (next: WebhookCursor): Promise<void> => {
    await cursors.save(url, next);
    cursor = next;
  };
  const total = { delivered: 0, messages: 0, attempts: 0, missed: 0 };
  const deps = {
    begin: save,
    webhook: createWebhook({ ...options, userAgent: `incrawl/${packageVersion()}` }),
    now: () => clock.now(),
    random: Math.random,
    sleep,
    onRetry: (reason: string, pauseMs: number) => note(`${reason}; next attempt in ${Math.ceil(pauseMs / 1_000)} s`),
  };
  for await (const window of windowsFrom(options, cursor.seq, sleep)) {
    const missed = missedBy(window, cursor.seq);
    if (missed > 0)
      note(`${missed} changes were deleted from the feed before delivery (see changes.keep and changes.max)`);
    const sent = await deliverChanges(
      deps,
      { ...window, through: numberOf(window.through), missed },
      cursor,
      save,
      options,
      signal,
    );
    total.delivered += sent.delivered;
    total.messages += sent.messages;
    total.attempts += sent.attempts;
    total.missed += missed;
    if (sent.failed !== null) return { ...total, cursor: cursor.seq, failed: signal.aborted ? null : sent.failed };
  }
  return { ...total, cursor: cursor.seq, failed: null };
}

/** Windows up to the end of the feed; with `follow`, until the signal comes. */
async function* windowsFrom(
  options: WebhookDeliveryOptions,
  start: number,
  sleep: (ms: number) => Promise<void>,
): AsyncGenerator<ChangeWindow> {
  const { filter, follow, signal } = options;
  if (follow !== undefined) {
    const onUnavailable = reportedOnce(options);
    yield* followChanges(options, filter, start, { signal, sleep: () => sleep(follow.everyMs), onUnavailable });
    return;
  }
  for (let after = start; ; ) {
    const window = await nextChanges(options, filter, after);
    yield window;
    if (!window.hasMore || signal.aborted) return;
    after = numberOf(window.through);
  }
}

function reportedOnce({ note }: WebhookDeliveryOptions): (message: string) => void {
  let isReported = false;
  return (message) => {
    if (!isReported) note(`${message}; its changes are sent as soon as it can be read`);
    isReported = true;
  };
}

/** The start of the delivery; with `follow`, waits while a crawl holds the db. */
async function startWhenFree(
  options: WebhookDeliveryOptions,
  stored: WebhookCursor | null,
  sleep: (ms: number) => Promise<void>,
): Promise<WebhookCursor> {
  const { follow, signal } = options;
  const onUnavailable = reportedOnce(options);
  for (;;) {
    try {
      return await startingPoint(options, stored);
    } catch (error) {
      if (follow === undefined || signal.aborted || !isUnavailable(error)) throw error;
      onUnavailable((error as Error).message);
      await sleep(follow.everyMs);
    }
  }
}

/** Number of entries between the cursor and the oldest kept entry. */
function missedBy({ ends }: ChangeWindow, cursor: number): number {
  return Math.max(0, Math.min(ends.first ?? ends.last + 1, ends.last + 1) - cursor - 1);
}

async function startingPoint(options: WebhookDeliveryOptions, stored: WebhookCursor | null): Promise<WebhookCursor> {
  const source = stored?.source ?? newSource();
  const { since } = options;
  if (since?.after !== undefined) return { source, seq: numberOf(since.after) };
  return options.withFeed(async (feed) => {
    const { first, last } = await feed.changeFeed();
    const kept = (first ?? last + 1) - 1;
    if (since?.notedFrom !== undefined) {
      for await (const change of feed.changes({ notedFrom: since.notedFrom, limit: 1 }))
        return { source, seq: change.seq - 1 };
      return { source, seq: last };
    }
    if (stored === null) return { source, seq: kept };
    if (stored.seq <= last) return stored;
    options.note(
      `the feed ends at ${last}, but ${stored.seq} was delivered before: it is another feed, delivered from its start`,
    );
    return { source: newSource(), seq: kept };
  });
}

function checkUrl(url: string): void {
  const wrong = faultOf(url);
  if (wrong !== null) throw new CrawlError('usage-invalid', `--webhook: ${wrong}`);
}

function faultOf(url: string): string | null {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return `expected a URL such as https://example.org/hook, got "${url}"`;
  }
  const { protocol, username, password } = parsed;
  if (protocol !== 'https:' && protocol !== 'http:') return `expected http or https, got "${protocol}"`;
  return username === '' && password === ''
    ? null
    : 'the URL may not hold a user name and password; messages are signed instead';
}

/** Version of the file; a change that older versions cannot read raises it. */
const VERSION = 1;

/** One small file per webhook, named by a digest of its URL: URLs of webhooks are secrets, and are not stored. */
function createWebhookCursors(dir: string): WebhookCursors {
  const fileOf = (url: string): string =>
    join(dir, `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`);
  return {
    async load(url) {
      const file = fileOf(url);
      let text: string;
      try {
        text = readFileSync(file, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw fileError(file, error);
      }
      return cursorOf(file, text);
    },
    async save(url, { source, seq, begun }) {
      mkdirSync(dir, { recursive: true });
      replaceFile(fileOf(url), `${JSON.stringify({ version: VERSION, source, seq, begun })}\n`);
    },
  };
}

function cursorOf(file: string, text: string): WebhookCursor {
  const refuse = (what: string): never => {
    throw new CrawlError('usage-invalid', `${file}: ${what}; --since N says where to begin once it is removed`);
  };
  let stored: Partial<WebhookCursor & { version: number }> | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch {
    return refuse('a JSON object was expected');
  }
  const { version, source, seq, begun } = stored ?? {};
  if (typeof version === 'number' && version > VERSION) return refuse(`version ${version} is of a newer incrawl`);
  if (typeof source !== 'string' || !Number.isSafeInteger(seq)) return refuse('source and seq were expected');
  return { source, seq: seq as number, ...(Number.isSafeInteger(begun) ? { begun: begun as number } : {}) };
}

/** A random, unique name for this crawl. */
const newSource = (): string => randomBytes(6).toString('hex');
