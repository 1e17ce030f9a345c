import { hammingDistance } from '../../../../page/near/fingerprint-tables.ts';
import { DAY_MS, isWithinLast } from '../../time.ts';
import { isAlikeInLength } from './duplicate.ts';
import type { FetchGone, FetchOutcome, FetchSuccess, ParseOutcome } from './outcome.ts';

/** Answer of a host to a URL that cannot exist: how its soft 404s look. */
export interface MissingPage {
  /** Time of the answer, ms since the epoch. */
  readonly at: number;
  /** Signature of the page; `null` for a proper "not found", and for an answer without a signature. */
  readonly signature: string | null;
  readonly signatureName: string | null;
  readonly textChars: number;
}

/**
 * Whether the host is to be probed again by now. A proper "not found" is a setting of the server, and lasts longer than
 * the look of a page.
 */
export const isMissingPageOld = ({ at, signature }: MissingPage, now: number): boolean =>
  !isWithinLast((signature === null ? 90 : 30) * DAY_MS, at, now);

const NAME = 'incrawl-no-such-page-';
const PROBE = new RegExp(`/${NAME}[0-9a-f]{12}$`);

/**
 * A URL in the folder of a page that cannot exist.
 * @param random uniform in [0, 1)
 */
export function missingPageUrl(page: string, random: number): string {
  const number = Math.floor(random * 2 ** 48);
  return new URL(`./${NAME}${number.toString(16).padStart(12, '0')}`, page).href;
}

export const isMissingPageUrl = (url: string): boolean => PROBE.test(url);

/** The host's missing page, from the answer to such a URL. */
export function missingPageOf(outcome: FetchOutcome, parse: ParseOutcome | null): MissingPage {
  const isPage = outcome.kind === 'success' && parse?.kind === 'parsed';
  return {
    at: outcome.at,
    signature: isPage ? parse.signature : null,
    signatureName: isPage ? parse.signatureName : null,
    textChars: isPage ? parse.textChars : 0,
  };
}

/** Bits; as for near duplicates. */
const MOST_DISTANT = 3;

/** Whether a page is a near duplicate of its host's missing page. */
export function isLikeMissingPage(parse: ParseOutcome | null, missing: MissingPage | null): boolean {
  if (parse?.kind !== 'parsed' || parse.signature === null || missing === null || missing.signature === null)
    return false;
  return (
    parse.signatureName === missing.signatureName &&
    isAlikeInLength(parse.textChars, missing.textChars) &&
    hammingDistance(parse.signature, missing.signature) <= MOST_DISTANT
  );
}

/** The answer as "gone". */
export function asSoft404({ at, requests, bodyBytes, receivedBytes, ms, status }: FetchSuccess): FetchGone {
  return { kind: 'gone', reason: 'soft-404', at, requests, bodyBytes, receivedBytes, ms, status };
}
