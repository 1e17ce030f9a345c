import { isReadOtherwise } from '../headers/ladder.ts';
import type { CrawlDatum, CrawlState } from '../states/datum.ts';
import { stateWhenOrphaned } from '../states/settle.ts';

/** Kinds of changes in the change feed. The names are stable; scripts may rely on them. */
export const CHANGES = {
  new: 'The page was fetched for the first time.',
  modified:
    'Its body changed, by the distance given; or its headers change how it is read (`X-Robots-Tag`, type, charset).',
  moved: 'It redirects now, or to another target than before.',
  gone: 'The server says that it is gone (404, 410).',
  back: 'It is available again after it was gone, moved, marked as a duplicate, or could not be parsed.',
  duplicate: 'It is a copy of another page.',
  dropped: 'Its record was deleted, as a gone page or an orphan: it is visited no more.',
} as const;

export type ChangeKind = keyof typeof CHANGES;

export const CHANGE_KINDS = Object.keys(CHANGES) as readonly ChangeKind[];

export interface PageChange {
  readonly kind: ChangeKind;
  readonly url: string;
  /** Time of the visit that found it, ms since the epoch. */
  readonly at: number;
  /** State of the record after the change; of a dropped one its last state. */
  readonly state: CrawlState;
  readonly status: number | null;
  /** As `changeDistance`, to the visit before; `null` without signatures to compare. */
  readonly distance: number | null;
  /** Target of the redirect, or the representative of a duplicate. */
  readonly target: string | null;
  readonly title: string | null;
  /** Names of the places that differ, as paths of elements, content first; absent without any. */
  readonly blocks?: readonly string[];
  /** Only of a dropped page, whose record is gone. */
  readonly contentType?: string;
}

/**
 * The entry for the change feed when one record replaces another; `null`: none. Depends on the two records alone, so
 * that all writers of records report the same.
 * @param at time of the finding, ms since the epoch
 */
export function pageChange(before: CrawlDatum, after: CrawlDatum, at: number): PageChange | null {
  const kind = kindOf(before, after);
  if (kind === null) return null;
  const isVisit = after.visits.at(-1) !== before.visits.at(-1);
  const compares = kind === 'modified' || kind === 'back' || (kind === 'duplicate' && before.digest !== null);
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

/** The entry for a deleted record; `null`: no page was reported there. */
export function pageDropped(datum: CrawlDatum, at: number): PageChange | null {
  const { url, state, httpStatus, title, contentType, digest } = datum;
  if (digest === null) return null;
  const type = contentType === null ? {} : { contentType };
  const target = leadsTo(datum);
  return { kind: 'dropped', url, at, state, status: httpStatus, distance: null, target, title, ...type };
}

/** Current target of a redirect or duplicate. Records keep their last target, but a gone page has none. */
export const leadsTo = ({ state, target }: Pick<CrawlDatum, 'state' | 'target'>): string | null =>
  isRedirect(state) || state === 'duplicate' ? target : null;

function kindOf(before: CrawlDatum, after: CrawlDatum): ChangeKind | null {
  // Becoming an orphan is not reported: for consumers the page keeps its state.
  const was = before.state === 'orphan' ? stateWhenOrphaned(before) : before.state;
  // The first answer for a URL is neither a move nor a loss: no page was reported there.
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
      if (was !== 'duplicate' || before.target !== after.target) return 'duplicate';
      return modifiedKind(before, after);
    case 'fetched':
    case 'notmodified':
    case 'parse_failed':
      return contentKind(was, before, after);
  }
}

function contentKind(was: CrawlState, before: CrawlDatum, after: CrawlDatum): ChangeKind | null {
  if (before.digest === null) return after.digest === null ? null : 'new';
  if (was === 'gone' || isRedirect(was)) return 'back';
  if (modifiedKind(before, after) !== null) return 'modified';
  const isReadAgain = was === 'parse_failed' && after.state !== 'parse_failed';
  return was === 'duplicate' || isReadAgain ? 'back' : null;
}

const isOtherBody = (before: CrawlDatum, after: CrawlDatum): boolean =>
  before.digest !== after.digest || isReadOtherwise(before, after);

/** A part that differs at every visit is no news. */
function modifiedKind(before: CrawlDatum, after: CrawlDatum): 'modified' | null {
  if (!isOtherBody(before, after)) return null;
  return after.blocks?.isCalm && after.blocks !== before.blocks ? null : 'modified';
}

const isRedirect = (state: CrawlState): boolean => state === 'redir_perm' || state === 'redir_temp';
