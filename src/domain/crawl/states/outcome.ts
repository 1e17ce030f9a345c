import type { BlockPrint } from '../../page/diff/block-prints.ts';
import type { Validators } from './datum.ts';

/** What a fetch came to. A tagged union: redirects and refusals are outcomes, never exceptions and never loops. */
export type FetchOutcome = FetchSuccess | FetchUnchanged | FetchRedirect | FetchGone | FetchFailed | FetchDenied;

/** Which rung of the ladder of change said "unchanged". */
export type UnchangedRung = 'conditional' | 'headers' | 'digest';

interface OutcomeBase {
  /** Time of the answer, ms since the epoch. */
  readonly at: number;
  /** Requests sent for this URL (a HEAD probe counts). */
  readonly requests: number;
  /** Body bytes received, as transferred. */
  readonly bodyBytes: number;
  /** All bytes received, headers included, as far as they are known. */
  readonly receivedBytes: number;
  /** Wall time of the exchange, ms. */
  readonly ms: number;
}

export interface FetchSuccess extends OutcomeBase {
  readonly kind: 'success';
  readonly status: number;
  readonly contentType: string | null;
  /** As {@link CrawlDatum.robotsTag}; absent in segments of older versions. */
  readonly robotsTag?: string | null;
  readonly validators: Validators;
  /** As {@link CrawlDatum.digest}. */
  readonly digest: string;
  readonly truncated: boolean;
  /** Set when headers alone would have said "unchanged" but the visit was an audit: did they lie? */
  readonly audit: AuditVerdict | null;
}

export interface FetchUnchanged extends OutcomeBase {
  readonly kind: 'unchanged';
  readonly rung: UnchangedRung;
  readonly status: number;
  /** The newest validators that the server gave (a 304 may renew them). */
  readonly validators: Validators;
  readonly audit: AuditVerdict | null;
}

/** `honest`: headers said unchanged and the body was; `lied`: it was not. */
export type AuditVerdict = 'honest' | 'lied';

export interface FetchRedirect extends OutcomeBase {
  readonly kind: 'redirect';
  readonly status: number;
  readonly permanent: boolean;
  /** Absolute target as the server named it, not yet canonical. */
  readonly target: string;
}

export interface FetchGone extends OutcomeBase {
  readonly kind: 'gone';
  readonly status: number;
  /** Why, where the status does not say it. */
  readonly reason?: 'soft-404';
}

/** For now no good: tried again later. */
export interface FetchFailed extends OutcomeBase {
  readonly kind: 'failed';
  /** A code of `domain/errors.ts`. */
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  /** Earliest time of the next try as the server asked, ms since the epoch. */
  readonly retryAt: number | null;
}

/**
 * Not asked at all, or refused by rule: robots.txt, address guard, unsupported scheme, a host that is left alone for
 * now.
 */
export interface FetchDenied extends OutcomeBase {
  readonly kind: 'denied';
  readonly code: string;
  readonly message: string;
  /** When to ask again, if that is known, ms since the epoch. */
  readonly retryAt: number | null;
}

/** What parsing added to a successful fetch, as far as the state of the URL is concerned. */
export type ParseOutcome =
  | {
      readonly kind: 'parsed';
      readonly signature: string | null;
      readonly signatureName: string;
      readonly title: string | null;
      /** As {@link CrawlDatum.textChars}; absent in segments of older versions. */
      readonly textChars?: number;
      /** What its blocks said; absent where nobody cut it into blocks, and in segments of older versions. */
      readonly blocks?: readonly BlockPrint[];
      readonly noindex: boolean;
      readonly metadata: Readonly<Record<string, string | number | boolean>>;
    }
  | { readonly kind: 'parse-failed'; readonly code: string; readonly message: string };
