import type { FeedCursor } from '../domain/crawl/change/change-feed.ts';

/** A receiver of changes at an HTTP address. */
export interface Webhook {
  /** One attempt; never rejects because of the network or the receiver. */
  deliver(message: WebhookMessage, signal: AbortSignal): Promise<Delivery>;
}

export interface WebhookMessage {
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
