import { isReadOtherwise } from '../headers/header-claims.ts';
import type { CrawlDatum, CrawlState } from '../states/datum.ts';
import { stateWhenOrphaned } from '../states/revived.ts';

/** What can happen to a page, as the change feed tells it. The names are stable; a script may rely on them. */
export const CHANGES = {
  new: 'The page was fetched for the first time.',
  modified:
    'Its body differs from the one before, by as much as the distance says; or the headers have it read otherwise (`X-Robots-Tag`, type, charset).',
  moved: 'It redirects now, or to another target than before.',
  gone: 'The server says that it is gone (404, 410).',
  back: 'It is there again after it was gone, moved, marked as a duplicate, or could not be parsed.',
  duplicate: 'It repeats another page.',
  dropped: 'Its record was deleted, as a gone page or an orphan: it is visited no more.',
} as const;

export type ChangeKind = keyof typeof CHANGES;

export const CHANGE_KINDS = Object.keys(CHANGES) as readonly ChangeKind[];

export interface PageChange {
  readonly kind: ChangeKind;
  readonly url: string;
  /** When it was found: the time of the visit, ms since the epoch. */
  readonly at: number;
  /** State of the record afterwards; of a dropped one the last. */
  readonly state: CrawlState;
  readonly status: number | null;
  /** Hamming distance to the signature before, bits; `null` when there was none to compare with. */
  readonly distance: number | null;
  /** Where it moved to, or what it repeats. */
  readonly target: string | null;
  readonly title: string | null;
  /** Places of the page that differ, as paths of elements, those of the content first; absent when none are known. */
  readonly blocks?: readonly string[];
  /** Of a dropped page, of which no record tells it any more. */
  readonly contentType?: string;
}

/**
 * What a consumer of the crawl has to be told when a record becomes another one; `null`: nothing. It follows from the
 * two records alone, so that whoever writes records tells the same.
 * @param at when it was found, ms since the epoch
 */
export function pageChange(before: CrawlDatum, after: CrawlDatum, at: number): PageChange | null {
  const kind = kindOf(before, after);
  if (kind === null) return null;
  const isVisit = after.visits.at(-1) !== before.visits.at(-1);
  const compares = kind === 'modified' || kind === 'back';
  const blocks = isVisit && compares && after.blocks !== before.blocks ? (after.blocks?.changed ?? []) : [];
  return {
    kind,
    url: after.url,
    at,
    state: after.state,
    status: after.httpStatus,
    distance: isVisit && compares ? (after.visits.at(-1)?.distance ?? null) : null,
    target: leadsTo(after),
    title: after.title,
    ...(blocks.length === 0 ? {} : { blocks }),
  };
}

/** What a consumer has to be told when a record is deleted; `null`: nobody was told of a page there. */
export function pageDropped(datum: CrawlDatum, at: number): PageChange | null {
  const { url, state, httpStatus, title, contentType, digest } = datum;
  if (digest === null) return null;
  const type = contentType === null ? {} : { contentType };
  const target = leadsTo(datum);
  return { kind: 'dropped', url, at, state, status: httpStatus, distance: null, target, title, ...type };
}

/**
 * Where a page redirects to, or what it repeats, as long as it does: records keep their last target, but what is gone
 * is nowhere.
 */
export const leadsTo = ({ state, target }: Pick<CrawlDatum, 'state' | 'target'>): string | null =>
  isRedirect(state) || state === 'duplicate' ? target : null;

function kindOf(before: CrawlDatum, after: CrawlDatum): ChangeKind | null {
  // Nobody is told of an orphan: for a consumer the page still is what it was.
  const was = before.state === 'orphan' ? stateWhenOrphaned(before) : before.state;
  // The first answer for a URL is no move and no loss: nobody has been told of a page there.
  const wasKnown = was !== 'unfetched' && before.lastFetchAt !== null;
  switch (after.state) {
    case 'unfetched':
    case 'orphan':
      return null;
    case 'redir_perm':
    case 'redir_temp':
      return wasKnown && !(isRedirect(was) && before.target === after.target) ? 'moved' : null;
    case 'gone':
      return wasKnown && was !== 'gone' ? 'gone' : null;
    case 'duplicate':
      return was === 'duplicate' && before.target === after.target ? null : 'duplicate';
    case 'fetched':
    case 'notmodified':
    case 'parse_failed':
      return contentKind(was, before, after);
  }
}

function contentKind(was: CrawlState, before: CrawlDatum, after: CrawlDatum): ChangeKind | null {
  if (before.digest === null) return after.digest === null ? null : 'new';
  if (was === 'gone' || isRedirect(was)) return 'back';
  if (before.digest !== after.digest || isReadOtherwise(before, after)) return 'modified';
  const isReadAgain = was === 'parse_failed' && after.state !== 'parse_failed';
  return was === 'duplicate' || isReadAgain ? 'back' : null;
}

const isRedirect = (state: CrawlState): boolean => state === 'redir_perm' || state === 'redir_temp';
