import { hammingDistance } from '../../page/near/hamming.ts';
import { DAY_MS } from '../../time.ts';
import { isAlikeInLength } from './duplicate.ts';
import type { FetchGone, FetchOutcome, FetchSuccess, ParseOutcome } from './outcome.ts';

/** What a host answered when it was asked for an address that cannot exist. */
export interface AnswerToNothing {
  /** Time of the answer, ms since the epoch. */
  readonly at: number;
  /** Signature of the page that came; `null` for an honest "not found", or where the answer is of no use. */
  readonly signature: string | null;
  readonly signatureName: string | null;
  readonly textChars: number;
}

/** An answer is asked for again after this, ms. */
export const NOTHING_LASTS_MS = 30 * DAY_MS;

const NAME = 'incrawl-no-such-page-';
const PROBE = new RegExp(`/${NAME}[0-9a-f]{12}$`);

/**
 * An address beside a page that nobody can have made.
 * @param random uniform in [0, 1)
 */
export function addressOfNothing(page: string, random: number): string {
  const number = Math.floor(random * 2 ** 48);
  return new URL(`./${NAME}${number.toString(16).padStart(12, '0')}`, page).href;
}

export const isAddressOfNothing = (url: string): boolean => PROBE.test(url);

/** What the answer to such an address says of its host. */
export function answerToNothing(outcome: FetchOutcome, parse: ParseOutcome | null): AnswerToNothing {
  const isPage = outcome.kind === 'success' && parse?.kind === 'parsed';
  return {
    at: outcome.at,
    signature: isPage ? parse.signature : null,
    signatureName: isPage ? parse.signatureName : null,
    textChars: isPage ? (parse.textChars ?? 0) : 0,
  };
}

/** Bits; as near duplicates. */
const MOST_DISTANT = 3;

/** Whether a page says what its host says where there is nothing. */
export function isLikeNothing(parse: ParseOutcome | null, nothing: AnswerToNothing | null): boolean {
  if (parse?.kind !== 'parsed' || parse.signature === null || nothing === null || nothing.signature === null)
    return false;
  return (
    parse.signatureName === nothing.signatureName &&
    isAlikeInLength(parse.textChars ?? 0, nothing.textChars) &&
    hammingDistance(parse.signature, nothing.signature) <= MOST_DISTANT
  );
}

/** The same answer, understood. */
export function asSoft404({ at, requests, bodyBytes, receivedBytes, ms, status }: FetchSuccess): FetchGone {
  return { kind: 'gone', reason: 'soft-404', at, requests, bodyBytes, receivedBytes, ms, status };
}
