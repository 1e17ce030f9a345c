import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import { cursorText, type FeedCursor, isBehind, vectorOf } from '../../core/domain/crawl/change/change-feed.ts';
import {
  type Hmac,
  retryAfterMs,
  type WebhookSender,
  webhookHeaders,
} from '../../core/domain/delivery/delivery-terms.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Delivery, Webhook, WebhookCursor, WebhookCursors } from '../../core/ports/change-feed.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { fileError, replaceFile } from '../../store/files/durable-file.ts';
import {
  type ChangeReaderOptions,
  type ChangeWindow,
  followChanges,
  isUnavailable,
  nextChanges,
  startAt,
} from './change-reader.ts';
import { type ChangesFilter, type ChangesQuery, endOf } from './changes.ts';
import { type DeliverySummary, deliverChanges } from './deliver-changes.ts';

export interface WebhookDeliveryOptions extends ChangeReaderOptions {
  readonly url: string;
  /** Key of the signature; `null`: messages are not signed. */
  readonly secret: string | null;
  readonly filter: ChangesFilter;
  /** Where to start the delivery; default: where the last one ended. */
  readonly since?: Pick<ChangesQuery, 'after' | 'notedFrom'>;
  /** Most entries per message. */
  readonly batch: number;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Continues until the signal comes, with a pause between two reads, ms. */
  readonly follow?: { readonly everyMs: number };
  readonly note: (text: string) => void;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

export interface WebhookSummary extends DeliverySummary {
  /** All changes up to here have been delivered or filtered out: one number, or the text form of several. */
  readonly cursor: number | string;
  /** Entries that were trimmed before delivery. */
  readonly missed: number;
}

/**
 * Delivers the changes since the last delivery to a webhook. The crawl db is open only while entries are read, never
 * during a request. Rejects with `usage-invalid` for an address that is not http or https, and with `db-locked`
 * (without `follow`) while a crawl holds the db and does not answer.
 */
export async function deliverToWebhook(options: WebhookDeliveryOptions): Promise<WebhookSummary> {
  const { url, note, signal, clock = systemClock } = options;
  checkUrl(url);
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
    const sent = await deliverChanges(deps, { ...window, missed }, grown(cursor, window), save, options, signal);
    total.delivered += sent.delivered;
    total.messages += sent.messages;
    total.attempts += sent.attempts;
    total.missed += missed;
    if (sent.failed !== null) return { ...total, cursor: shown(cursor), failed: signal.aborted ? null : sent.failed };
  }
  return { ...total, cursor: shown(cursor), failed: null };
}

const shown = ({ seq }: WebhookCursor): number | string => (typeof seq === 'number' ? seq : cursorText(seq));

/** Windows up to the end of the feed; with `follow`, until the signal comes. */
async function* windowsFrom(
  options: WebhookDeliveryOptions,
  start: FeedCursor,
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
    after = window.through;
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

/** For a new partition, a cursor from before the split counts as much as it has read of the old one. */
function grown(cursor: WebhookCursor, { ends: { each } }: ChangeWindow): WebhookCursor {
  const { seq, begun } = cursor;
  if (typeof seq === 'number' || seq.length === each.length) return cursor;
  return { ...cursor, seq: vectorOf(seq, each), ...(begun !== undefined && { begun: vectorOf(begun, each) }) };
}

/** Number of entries between the cursor and the oldest entries kept. */
function missedBy({ ends: { each } }: ChangeWindow, cursor: FeedCursor): number {
  const read = vectorOf(cursor, each);
  return each.reduce((sum, { first, last }, i) => sum + Math.max(0, Math.min(first, last + 1) - (read[i] ?? 0) - 1), 0);
}

async function startingPoint(options: WebhookDeliveryOptions, stored: WebhookCursor | null): Promise<WebhookCursor> {
  const source = stored?.source ?? newSource();
  const { since } = options;
  if (since?.after !== undefined) return { source, seq: since.after };
  return options.withFeed(async (feed) => {
    if (since?.notedFrom !== undefined) return { source, seq: await startAt(feed, { notedFrom: since.notedFrom }) };
    const ends = await feed.changeFeed();
    const kept = ends.each.map(({ first }) => first - 1);
    if (stored === null) return { source, seq: kept };
    const end = endOf(ends);
    if (!isBehind(end, vectorOf(stored.seq, ends.each))) return stored;
    options.note(
      `the feed ends at ${cursorText(end)}, but ${cursorText(stored.seq)} was delivered before: it is another feed, delivered from its start`,
    );
    return { source: newSource(), seq: kept };
  });
}

function checkUrl(url: string): void {
  const wrong = webhookFault(url);
  if (wrong !== null) throw new CrawlError('usage-invalid', `--webhook: ${wrong}`);
}

/** What is wrong with the address of a webhook; `null`: nothing. */
export function webhookFault(url: string): string | null {
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

/** Version of the file; raised by a change that older versions cannot read. */
const VERSION = 1;

/** One small file per webhook, named after a digest of its URL: webhook URLs are secrets and are not stored. */
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
  if (typeof source !== 'string' || !isCursor(seq)) return refuse('source and seq were expected');
  return { source, seq, ...(isCursor(begun) && { begun }) };
}

const isCursor = (value: unknown): value is FeedCursor =>
  Array.isArray(value) ? value.length > 0 && value.every(Number.isSafeInteger) : Number.isSafeInteger(value);

/** A random, unique name for this crawl. */
const newSource = (): string => randomBytes(6).toString('hex');

interface WebhookOptions extends WebhookSender {
  readonly url: string;
  /** Time limit for one attempt, ms. */
  readonly timeoutMs: number;
}

const hmac: Hmac = (key, text) => createHmac('sha256', key).update(text).digest('base64');

/**
 * Sends messages by POST, signed if there is a secret. Redirects are not followed: a body meant for one address is sent
 * to no other.
 */
export function createWebhook({ url, timeoutMs, ...sender }: WebhookOptions): Webhook {
  return {
    async deliver(message, signal) {
      const headers = webhookHeaders(message, sender, hmac);
      // `AbortSignal.any` holds its sources weakly: a limit without another reference is lost at the next garbage
      // collection.
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers,
          body: message.body,
          redirect: 'manual',
          signal: AbortSignal.any([signal, limit]),
        });
        // Only the status is needed, and the body may be endless.
        await answer.body?.cancel();
        return outcomeOf(answer, message.at);
      } catch (error) {
        const reason = limit.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error);
        return { isTaken: false, status: null, reason, retryAfterMs: null, isFinal: false };
      }
    },
  };
}

function outcomeOf(answer: Response, now: number): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) return { isTaken: true, status };
  const reason = status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`;
  const pauseMs = retryAfterMs(answer.headers.get('retry-after'), now);
  return { isTaken: false, status, reason, retryAfterMs: pauseMs, isFinal: status === 410 };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' ? error.message : `${error.message}: ${cause}`;
}
