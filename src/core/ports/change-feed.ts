// core/ports/: contracts between the steps and the outside; meaning, order and failure are stated on each member.

import type { ChangeRow, FeedCursor, FeedEnds } from '../domain/crawl/change/change-feed.ts';

/** The change feed: numbered entries of page changes, the part of the crawl db that consumers of a crawl follow. */
export interface ChangeFeed {
  /** Entries by `seq`, oldest first. A consistent snapshot. */
  changes(query?: ChangeQuery): AsyncIterable<ChangeRow>;
  /** How far the feed goes: an index read, never a scan. */
  feedEnds(): Promise<FeedEnds>;
}

/** Entries that meet all conditions. */
export interface ChangeQuery {
  /** Only entries behind this `seq`. A cursor of another kind than that of the feed is refused: `usage-invalid`. */
  readonly after?: FeedCursor;
  /** Only entries up to this `seq`. */
  readonly through?: FeedCursor;
  /** Only entries noted at this time or later, ms since the epoch; found by binary search. */
  readonly notedFrom?: number;
  readonly limit?: number;
  /** Newest first. */
  readonly reverse?: boolean;
}

/** A receiver of changes at an HTTP address. */
export interface Webhook {
  /** One attempt; never rejects because of the network or the receiver. */
  deliver(message: WebhookMessage, signal: AbortSignal): Promise<Delivery>;
}

interface WebhookMessage {
  /** The same in every attempt, so that a receiver recognises a repeated message. */
  readonly id: string;
  /** Time of the attempt, ms since the epoch. */
  readonly at: number;
  readonly body: string;
}

export type Delivery =
  | { readonly isTaken: true; readonly status: number }
  | {
      readonly isTaken: false;
      /** `null`: no response. */
      readonly status: number | null;
      readonly reason: string;
      /** The pause asked for by the receiver, ms. */
      readonly retryAfterMs: number | null;
      /** The receiver unsubscribes: 410. */
      readonly isFinal: boolean;
    };

/** Delivery cursors of the webhooks; persistent. */
export interface WebhookCursors {
  /** `null`: nothing was delivered yet. */
  load(url: string): Promise<WebhookCursor | null>;
  /** Resolves when the cursor is on disk. */
  save(url: string, cursor: WebhookCursor): Promise<void>;
}

export interface WebhookCursor {
  /** Names this crawl to the receiver: prefix of the message ids. */
  readonly source: string;
  /** All changes up to there were delivered, or not subscribed to. */
  readonly seq: FeedCursor;
  /** The end of a message after `seq` whose delivery began and may have succeeded; absent without one. */
  readonly begun?: FeedCursor;
}
