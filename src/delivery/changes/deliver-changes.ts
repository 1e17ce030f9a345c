import { retryPauseMs } from '../../core/domain/delivery/retry-pause.ts';
import type { Webhook, WebhookCursor } from '../../core/ports/webhook.ts';

export interface DeliveryDeps {
  readonly webhook: Webhook;
  /** Saves durably which message will be sent next. */
  readonly begin: (cursor: WebhookCursor) => Promise<void>;
  readonly now: () => number;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
  /** Resolves after so many ms, or when the signal comes. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before each further attempt. */
  readonly onRetry: (reason: string, pauseMs: number) => void;
}

export interface DeliveryOptions {
  /** Entries in a message at most. */
  readonly batch: number;
  /** Attempts after the first one that failed. */
  readonly retries: number;
}

/** Result of one read of the feed. */
export interface ToDeliver {
  readonly changes: readonly { readonly seq: number }[];
  /** The number up to which all entries have been read. */
  readonly through: number;
  /** Entries after the cursor that were trimmed before delivery. */
  readonly missed: number;
}

export interface DeliverySummary {
  readonly delivered: number;
  readonly messages: number;
  readonly attempts: number;
  /** Why delivery ended early; `null`: all was accepted. */
  readonly failed: { readonly status: number | null; readonly reason: string; readonly isFinal: boolean } | null;
}

const FIRST_PAUSE_MS = 1_000;
/** Longest pause before another attempt, ms, whatever Retry-After asks for. */
const MAX_PAUSE_MS = 300_000;

/**
 * Delivers changes to a webhook, in messages of a bounded size, each repeated until it is accepted: at least once and
 * in order. The cursor is saved after each message, so a killed process repeats one message at most. The extent of a
 * message is saved before it is sent, so a later run, which finds more entries, repeats it unchanged under the same id.
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
  let { seq, begun = seq } = cursor;
  for (let start = 0; start < changes.length; ) {
    const fitting = changes.slice(start, start + options.batch);
    const repeated = fitting.filter((each) => each.seq <= begun);
    const part = repeated.length > 0 ? repeated : fitting;
    const first = part[0]!.seq;
    const last = part.at(-1)!.seq;
    if (last !== begun) await deps.begin({ source, seq, begun: last });
    begun = last;
    const data = { source, first, last, missed: start === 0 ? missed : 0, changes: part };
    const body = JSON.stringify({ type: 'incrawl.changes', timestamp: new Date(deps.now()).toISOString(), data });
    const sent = await untilTaken(deps, { id: `${source}_${first}_${last}`, body }, options.retries, signal);
    attempts += sent.attempts;
    if (sent.failed !== null) return { delivered, messages, attempts, failed: sent.failed };
    delivered += part.length;
    messages++;
    start += part.length;
    seq = last;
    await save({ source, seq });
  }
  if (through > seq) await save({ source, seq: through });
  return { delivered, messages, attempts, failed: null };
}

async function untilTaken(
  deps: DeliveryDeps,
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
