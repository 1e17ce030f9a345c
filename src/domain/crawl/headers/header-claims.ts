import type { CrawlDatum } from '../states/datum.ts';

/**
 * What only the headers say of a page, so that the same bytes may mean another page: as what its body is read, and what
 * robots may do with it.
 */
export interface HeaderClaims {
  /** `Content-Type` verbatim; `null` when absent. */
  readonly contentType: string | null;
  /** `X-Robots-Tag`, one line of the field a line, at most {@link MAX_ROBOTS_TAG} characters; `null` when absent. */
  readonly robotsTag: string | null;
}

const MAX_ROBOTS_TAG = 1_000;

export function claimsOf(headers: Readonly<Record<string, string>>): HeaderClaims {
  return {
    contentType: headers['content-type'] ?? null,
    robotsTag: headers['x-robots-tag']?.slice(0, MAX_ROBOTS_TAG) ?? null,
  };
}

/** Whether an answer with a body, or to HEAD, claims of a page what was known. A type that is absent tells nothing. */
export function areClaimsKept(known: HeaderClaims, current: HeaderClaims): boolean {
  const isTypeKept =
    known.contentType === null ||
    current.contentType === null ||
    known.contentType === current.contentType ||
    plainType(known.contentType) === plainType(current.contentType);
  return isTypeKept && isTagKept(known, current);
}

/**
 * Whether a 304 leaves the claims as they were. It need not repeat them (RFC 9110 section 15.4.5), and many servers
 * give it a type of its own, so only an `X-Robots-Tag` that is there counts.
 */
export function areClaimsKeptBy304(known: HeaderClaims, { robotsTag }: HeaderClaims): boolean {
  return robotsTag === null || isTagKept(known, { robotsTag });
}

/** What the same bytes were read as. */
type Reading = HeaderClaims & Pick<CrawlDatum, 'signature' | 'signatureName' | 'title'>;

/**
 * Whether the same bytes mean another page since the headers claim something else of them. A charset counts by what it
 * makes of the text: servers of one site often disagree whether to name it.
 */
export function isReadOtherwise(before: Reading, after: Reading): boolean {
  if (areClaimsKept(before, after)) return false;
  if (!isTagKept(before, after)) return true;
  if (before.contentType === null || after.contentType === null) return false;
  if (mediaType(before.contentType) !== mediaType(after.contentType)) return true;
  if (before.signatureName !== after.signatureName) return false;
  return before.signature !== after.signature || before.title !== after.title;
}

const CHARSET = /;\s*charset\s*=\s*["']?([^\s;,"']+)/;

/** Media type and charset alone, in one spelling. */
function plainType(contentType: string): string {
  const charset = CHARSET.exec(contentType.toLowerCase())?.[1] ?? '';
  return `${mediaType(contentType)};${charset === 'utf8' ? 'utf-8' : charset}`;
}

const mediaType = (contentType: string): string => contentType.split(';', 1).join('').trim().toLowerCase();

type Tagged = Pick<HeaderClaims, 'robotsTag'>;

/** Asked at each visit, and hardly any page has a tag. */
const isTagKept = (known: Tagged, current: Tagged): boolean =>
  known.robotsTag === current.robotsTag || plainTag(known.robotsTag) === plainTag(current.robotsTag);

const plainTag = (robotsTag: string | null): string => (robotsTag ?? '').toLowerCase().replace(/[\t ]+/g, '');
