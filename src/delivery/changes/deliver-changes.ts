import {
  cursorText,
  type FeedCursor,
  isBehind,
  lengthOf,
  numberOf,
  vectorOf,
} from '../../core/domain/crawl/change/change-feed.ts';
import { retryPauseMs } from '../../core/domain/delivery/delivery-terms.ts';
import type { Webhook, WebhookCursor } from '../../core/ports/change-feed.ts';

export interface DeliveryDeps {
  readonly webhook: Webhook;
  /** Saves durably which message will be sent next. */
  readonly begin: (cursor: WebhookCursor) => Promise<void>;
  readonly now: () => number;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
  /** Resolves after this number of ms, or when the signal comes. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before each further attempt. */
  readonly onRetry: (reason: string, pauseMs: number) => void;
}

export interface DeliveryOptions {
  /** Most entries per message. */
  readonly batch: number;
  /** Attempts after the first one that failed. */
  readonly retries: number;
}

interface NumberedChange {
  readonly seq: number;
  /** In a spread crawl: the partition that gave the number. */
  readonly partition?: string;
}

/** Result of one read of the feed. */
export interface ToDeliver {
  readonly changes: readonly NumberedChange[];
  /** The number up to which all entries have been read. */
  readonly through: FeedCursor;
  /** Entries after the cursor that were trimmed before delivery. */
  readonly missed: number;
}

export interface DeliverySummary {
  readonly delivered: number;
  readonly messages: number;
  readonly attempts: number;
  /** Why delivery ended early; `null`: everything was accepted. */
  readonly failed: { readonly status: number | null; readonly reason: string; readonly isFinal: boolean } | null;
}

const FIRST_PAUSE_MS = 1_000;
/** Longest pause before another attempt, ms, whatever Retry-After says. */
const MAX_PAUSE_MS = 300_000;

/**
 * Delivers changes to a webhook, in messages of bounded size. Each message is repeated until it is accepted, so
 * delivery is at least once and in order. The cursor is saved after each message, so a killed process repeats at most
 * one message. The extent of a message is saved before it is sent, so a later run, which finds more entries, repeats it
 * unchanged under the same id.
 */
export async function deliverChanges(
  deps: DeliveryDeps,
  { changes, through, missed }: ToDeliver,
  cursor: WebhookCursor,
  save: (cursor: WebhookCursor) => Promise<void>,
  options: DeliveryOptions,
  signal: AbortSignal,
): Promise<DeliverySummary> {
  let [delivered, messages, attempts] = [0, 0, 0];
  const { source } = cursor;
  const feeds = lengthOf(through);
  let seq = vectorOf(cursor.seq, feeds);
  let begun = vectorOf(cursor.begun ?? cursor.seq, feeds);
  const isBegun = (each: NumberedChange): boolean => each.seq <= (begun[placeOf(each)] ?? 0);
  // With several feeds, later entries may have arrived among them.
  const ordered = [...changes.filter(isBegun), ...changes.filter((each) => !isBegun(each))];
  for (let start = 0; start < ordered.length; ) {
    const fitting = ordered.slice(start, start + options.batch);
    const repeated = fitting.filter(isBegun);
    const part = repeated.length > 0 ? repeated : fitting;
    const end = after(seq, part);
    if (cursorText(end) !== cursorText(begun)) await deps.begin({ source, seq: cursorOf(seq), begun: cursorOf(end) });
    begun = end;
    const [first, last] = [part[0], part.at(-1)] as [NumberedChange, NumberedChange];
    const ends = { first: nameOf(first, ':'), last: nameOf(last, ':') };
    const data = { source, ...ends, missed: start === 0 ? missed : 0, changes: part };
    const body = JSON.stringify({ type: 'incrawl.changes', timestamp: new Date(deps.now()).toISOString(), data });
    const id = `${source}_${nameOf(first, '-')}_${nameOf(last, '-')}`;
    const sent = await deliverUntilTaken(deps, { id, body }, options.retries, signal);
    attempts += sent.attempts;
    if (sent.failed !== null) return { delivered, messages, attempts, failed: sent.failed };
    delivered += part.length;
    messages++;
    start += part.length;
    seq = end;
    await save({ source, seq: cursorOf(seq) });
  }
  if (isBehind(seq, through)) await save({ source, seq: through });
  return { delivered, messages, attempts, failed: null };
}

const placeOf = ({ partition = '0' }: NumberedChange): number => Number(partition);
const nameOf = ({ seq, partition }: NumberedChange, mark: string): number | string =>
  partition === undefined ? seq : `${partition}${mark}${seq}`;

/** The cursor after a reader has also read these changes; the numbers of each feed rise. */
function after(from: readonly number[], changes: readonly NumberedChange[]): readonly number[] {
  const end = [...from];
  for (const change of changes) end[placeOf(change)] = change.seq;
  return end;
}

const cursorOf = (numbers: readonly number[]): FeedCursor => (numbers.length === 1 ? numberOf(numbers) : numbers);

/** Repeats a message until it is accepted, with growing pauses, as often as allowed. */
export async function deliverUntilTaken(
  deps: Omit<DeliveryDeps, 'begin'>,
  message: { readonly id: string; readonly body: string },
  retries: number,
  signal: AbortSignal,
): Promise<Pick<DeliverySummary, 'attempts' | 'failed'>> {
  for (let attempts = 1; ; attempts++) {
    const answer = await deps.webhook.deliver({ ...message, at: deps.now() }, signal);
    if (answer.isTaken) return { attempts, failed: null };
    const { status, reason, isFinal } = answer;
    if (isFinal || attempts > retries || signal.aborted) return { attempts, failed: { status, reason, isFinal } };
    const { retryAfterMs } = answer;
    const terms = { attempt: attempts - 1, firstMs: FIRST_PAUSE_MS, longestMs: MAX_PAUSE_MS, retryAfterMs };
    const pauseMs = retryPauseMs(terms, deps.random);
    deps.onRetry(reason, pauseMs);
    await deps.sleep(pauseMs, signal);
  }
}
