import type { CrawlDatum } from '../states/datum.ts';
import { isSignedOtherwise, type Signed } from '../states/signature-distance.ts';

/**
 * Header fields that change the meaning of the same bytes: how the body is decoded, and what robots may do with the
 * page.
 */
export interface HeaderClaims {
  /** `Content-Type` verbatim; `null` when absent. */
  readonly contentType: string | null;
  /** `X-Robots-Tag`, one line per field, at most {@link MAX_ROBOTS_TAG} characters; `null` when absent. */
  readonly robotsTag: string | null;
}

const MAX_ROBOTS_TAG = 1_000;

export function claimsOf(headers: Readonly<Record<string, string>>): HeaderClaims {
  return {
    contentType: headers['content-type'] ?? null,
    robotsTag: headers['x-robots-tag']?.slice(0, MAX_ROBOTS_TAG) ?? null,
  };
}

/** Whether the claims of a GET or HEAD response equal the known ones. An absent type counts as equal. */
export function areClaimsKept(known: HeaderClaims, current: HeaderClaims): boolean {
  const isTypeKept =
    known.contentType === null ||
    current.contentType === null ||
    known.contentType === current.contentType ||
    plainType(known.contentType) === plainType(current.contentType);
  return isTypeKept && isTagKept(known, current);
}

/**
 * Whether a 304 keeps the claims. It need not repeat them (RFC 9110 section 15.4.5), and many servers send it with a
 * type of its own, so only a present `X-Robots-Tag` counts.
 */
export function areClaimsKeptBy304(known: HeaderClaims, { robotsTag }: HeaderClaims): boolean {
  return robotsTag === null || isTagKept(known, { robotsTag });
}

/** Claims, and the result of parsing under them. */
type Reading = HeaderClaims & Signed & Pick<CrawlDatum, 'title'>;

/**
 * Whether the same bytes make another page under the new claims. A charset counts only by its effect on the text:
 * servers of one site often disagree whether to name it.
 */
export function isReadOtherwise(before: Reading, after: Reading): boolean {
  if (areClaimsKept(before, after)) return false;
  if (!isTagKept(before, after)) return true;
  if (before.contentType === null || after.contentType === null) return false;
  if (mediaType(before.contentType) !== mediaType(after.contentType)) return true;
  if (before.signatureName !== after.signatureName) return false;
  return isSignedOtherwise(before, after) || before.title !== after.title;
}

const CHARSET = /;\s*charset\s*=\s*["']?([^\s;,"']+)/;

/** Media type and charset alone, in one spelling. */
function plainType(contentType: string): string {
  const charset = CHARSET.exec(contentType.toLowerCase())?.[1] ?? '';
  return `${mediaType(contentType)};${charset === 'utf8' ? 'utf-8' : charset}`;
}

const mediaType = (contentType: string): string => contentType.split(';', 1).join('').trim().toLowerCase();

type Tagged = Pick<HeaderClaims, 'robotsTag'>;

/** Called at each visit; hardly any page has a tag. */
const isTagKept = (known: Tagged, current: Tagged): boolean =>
  known.robotsTag === current.robotsTag || plainTag(known.robotsTag) === plainTag(current.robotsTag);

const plainTag = (robotsTag: string | null): string => (robotsTag ?? '').toLowerCase().replace(/[\t ]+/g, '');
