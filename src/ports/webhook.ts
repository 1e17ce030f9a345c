/** Somebody who wants to be told of changes, at an address of theirs. */
export interface Webhook {
  /** One attempt; never rejects for what a network or a receiver does. */
  deliver(message: WebhookMessage, signal: AbortSignal): Promise<Delivery>;
}

export interface WebhookMessage {
  /** The same in every attempt, so that a receiver can tell a message that it had already. */
  readonly id: string;
  /** Time of the attempt, ms since the epoch. */
  readonly at: number;
  readonly body: string;
}

export type Delivery =
  | { readonly isTaken: true; readonly status: number }
  | {
      readonly isTaken: false;
      /** `null`: there was no answer. */
      readonly status: number | null;
      readonly reason: string;
      /** The pause that the receiver asks for, ms. */
      readonly retryAfterMs: number | null;
      /** The receiver wants no more: 410. */
      readonly isFinal: boolean;
    };

/** How far each webhook has been told; outlives the process. */
export interface WebhookCursors {
  /** `null`: it has never been told anything. */
  load(url: string): Promise<WebhookCursor | null>;
  /** Resolves when it is safely on disk. */
  save(url: string, cursor: WebhookCursor): Promise<void>;
}

export interface WebhookCursor {
  /** Names this crawl to the receiver: ids of messages begin with it. */
  readonly source: string;
  /** All changes up to this number have been told, or were not asked for. */
  readonly seq: number;
  /** Last entry of a message behind `seq` that may have been taken already; absent: none was begun. */
  readonly begun?: number;
}
