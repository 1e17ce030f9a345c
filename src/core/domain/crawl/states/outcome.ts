import type { BlockPrint } from '../../../../page/diff/block-prints.ts';
import type { PlacePrint } from '../../../../page/diff/page-places.ts';
import type { StatedFacts } from '../../../../page/metadata/page-metadata.ts';
import type { RenderedCopy } from '../rendering/render-trials.ts';
import type { Validators } from './datum.ts';
import type { StoredTruncation } from './truncation.ts';

const LOGIN_REQUIRED = 'login-required';

/** Visits that met a login page in place of their page, of these reasons of failures. */
export const loginsMet = (failures: readonly { readonly code: string; readonly visits: number }[]): number =>
  failures.reduce((sum, { code, visits }) => (code === LOGIN_REQUIRED ? sum + visits : sum), 0);

/** Whether a visit has met one. */
export const hasMetLogin = (outcome: FetchOutcome): boolean =>
  outcome.kind === 'failed' && outcome.code === LOGIN_REQUIRED;

/** An answer that was the login page in place of the page, as a failure: what is known of the page stays. */
export function asLoginRequired(answer: FetchSuccess | FetchRedirect, login: string): FetchFailed {
  const { at, requests, bodyBytes, receivedBytes, ms, status } = answer;
  const message = `answered as its login page ${login.slice(0, 200)}`;
  const costs = { at, requests, bodyBytes, receivedBytes, ms };
  return { kind: 'failed', code: LOGIN_REQUIRED, message, status, retryAt: null, ...costs };
}

/** Outcome of a fetch. A tagged union: redirects and refusals are outcomes, neither exceptions nor loops. */
export type FetchOutcome = FetchSuccess | FetchUnchanged | FetchRedirect | FetchGone | FetchFailed | FetchDenied;

/** Rung of the ladder of change that found the page unchanged. */
export type UnchangedRung = 'conditional' | 'headers' | 'digest';

interface OutcomeBase {
  /** Time of the answer, ms since the epoch. */
  readonly at: number;
  /** Requests sent for this URL (a HEAD probe counts). */
  readonly requests: number;
  /** Body bytes received, as transferred. */
  readonly bodyBytes: number;
  /** All bytes received, headers included, as far as known. */
  readonly receivedBytes: number;
  /** Wall time of the exchange, ms. */
  readonly ms: number;
}

export interface FetchSuccess extends OutcomeBase {
  readonly kind: 'success';
  readonly status: number;
  readonly contentType: string | null;
  /** As {@link CrawlDatum.robotsTag}. */
  readonly robotsTag: string | null;
  readonly validators: Validators;
  /** As {@link CrawlDatum.digest}. */
  readonly digest: string;
  /** As {@link CrawlDatum.rendered}; absent where the page was not rendered. */
  readonly rendered?: RenderedCopy;
  /** URLs that its browser asked for by GET, to show it; absent where it was not rendered, or they are not kept. */
  readonly requisites?: readonly string[];
  /** Why the body is not the whole page; `false`: it is. */
  readonly truncated: StoredTruncation;
  /** Result of an audit: whether "unchanged" by the headers was true; `null` without an audit. */
  readonly audit: AuditVerdict | null;
}

export interface FetchUnchanged extends OutcomeBase {
  readonly kind: 'unchanged';
  readonly rung: UnchangedRung;
  readonly status: number;
  /** The newest validators of the server (a 304 may renew them). */
  readonly validators: Validators;
  readonly audit: AuditVerdict | null;
  /** Replaces {@link CrawlDatum.rendered}; absent: that stays. */
  readonly rendered?: RenderedCopy;
}

/** `honest`: headers and body were both unchanged; `lied`: the body had changed. */
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
  /** Reason, where it is not the status. */
  readonly reason?: 'soft-404';
}

/** A temporary failure: the URL is retried later. */
export interface FetchFailed extends OutcomeBase {
  readonly kind: 'failed';
  /** A code of `core/domain/errors.ts`. */
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  /** Earliest time of the next attempt as the server requested it, ms since the epoch. */
  readonly retryAt: number | null;
}

/** Not requested, or refused by rule: robots.txt, address guard, unsupported scheme, a paused host. */
export interface FetchDenied extends OutcomeBase {
  readonly kind: 'denied';
  readonly code: string;
  readonly message: string;
  /** Time of the next attempt, where known, ms since the epoch. */
  readonly retryAt: number | null;
}

/** Outcome of parsing a successful fetch, as far as it concerns the state of the URL. */
export type ParseOutcome =
  | {
      readonly kind: 'parsed';
      readonly signature: string | null;
      /** As {@link CrawlDatum.changeSignature}; absent: `signature` serves for that, too. */
      readonly changeSignature?: string;
      /** As {@link CrawlDatum.changeDigest}; absent: the signature has none. */
      readonly changeDigest?: string;
      /** As {@link CrawlDatum.sketch}; absent: `null`. */
      readonly sketch?: string;
      readonly signatureName: string;
      readonly title: string | null;
      /** As {@link CrawlDatum.textChars}. */
      readonly textChars: number;
      /** Characters of its content outside links; absent where it was not cut into blocks. */
      readonly ownChars?: number;
      /** As {@link CrawlDatum.stated}. */
      readonly stated: StatedFacts | null;
      /** Fingerprints of its blocks; absent where the page was not cut into blocks. */
      readonly blocks?: readonly BlockPrint[];
      /** Prints of all its places, content first, larger first. */
      readonly places: readonly PlacePrint[];
      readonly noindex: boolean;
      readonly metadata: Readonly<Record<string, string | number | boolean>>;
    }
  | { readonly kind: 'parse-failed'; readonly code: string; readonly message: string };
