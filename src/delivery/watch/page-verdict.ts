import type { PlaceDiff } from '../../page/diff/place-diff.ts';

/** What is reported of a watched page. `failing`: it could not be read at {@link LONG_FAILING} looks in a row. */
export type WatchKind = 'new' | 'modified' | 'moved' | 'gone' | 'failing' | 'back';

/** What was last seen of a page. */
export interface PageSeen {
  /** The state as reported. */
  readonly state: 'unread' | 'there' | 'gone' | 'failing';
  /** Time of the last visit that was looked at, ISO 8601. */
  readonly visitedAt: string;
  /** Time of the last visit that found the page, ISO 8601, and digest of its body; `null`: none has. */
  readonly foundAt: string | null;
  readonly digest: string | null;
  /** Where the redirects of the page lead; its own URL without any. */
  readonly finalUrl: string;
  /** Looks in a row that could not read it. */
  readonly failures: number;
}

/** A page as its last visit has left it. */
export interface PageNow extends Pick<PageSeen, 'visitedAt' | 'digest' | 'finalUrl'> {
  readonly outcome: 'there' | 'gone' | 'unread';
}

export interface WatchEvent {
  /** Events are numbered from 1. */
  readonly seq: number;
  readonly kind: WatchKind;
  /** As watched. */
  readonly url: string;
  /** Where its redirects lead; `null`: the page has none. */
  readonly target: string | null;
  readonly title: string | null;
  /** Time of the visit, ISO 8601. */
  readonly at: string;
  /** Hamming distance of the change signatures, bits; `null` where they do not compare. */
  readonly distance: number | null;
  /** Selectors of the watched parts, and those that find nothing. */
  readonly select: readonly string[];
  readonly missing: string;
  /** Why the page, or its text, could not be read. */
  readonly problem: string | null;
  /** The places that differ, with their words; `null` if nothing was compared. */
  readonly places: PlaceDiff['places'] | null;
}

/** Looks in a row that find no answer until a page counts as failing. */
export const LONG_FAILING = 3;

/** Smaller modifications are dates and counters, as a rule (docs/changes.md). */
export const SMALL_BITS = 4;

/** What a visit has shown. `kind`: to be reported; of a modification only if {@link isReported} says so. */
export function pageVerdict(
  before: PageSeen | null,
  now: PageNow,
): { readonly seen: PageSeen; readonly kind: WatchKind | null } {
  const { visitedAt, outcome, digest, finalUrl } = now;
  if (before?.visitedAt === visitedAt) return { seen: before, kind: null };
  const last = before ?? { state: 'unread', foundAt: null, digest: null, finalUrl };
  if (outcome === 'unread') {
    const failures = (before?.failures ?? 0) + 1;
    const isFailing = failures >= LONG_FAILING && last.state !== 'gone';
    const seen = { ...last, visitedAt, failures, state: isFailing ? 'failing' : last.state };
    return { seen, kind: isFailing && last.state !== 'failing' ? 'failing' : null };
  }
  if (outcome === 'gone') {
    const seen = { ...last, visitedAt, failures: 0, state: 'gone' } as const;
    return { seen, kind: last.state === 'gone' ? null : 'gone' };
  }
  const seen = { state: 'there', visitedAt, foundAt: visitedAt, digest, finalUrl, failures: 0 } as const;
  if (last.state === 'unread') return { seen, kind: 'new' };
  if (last.state !== 'there') return { seen, kind: 'back' };
  if (last.finalUrl !== finalUrl) return { seen, kind: 'moved' };
  return { seen, kind: last.digest === digest ? null : 'modified' };
}

/**
 * Whether a modification is reported: of a part of a page, or with `any`, if its words differ; of a whole page if they
 * differ by more than what the crawler takes for small things, such as dates, and for parts that always change.
 */
export function isReported({ places, distance, select }: WatchEvent, any: boolean): boolean {
  if (places === null) return true;
  return places.length > 0 && (any || select.length > 0 || distance === null || distance >= SMALL_BITS);
}

const VERBS: Readonly<Record<WatchKind, string>> = {
  new: 'watching',
  modified: 'changed',
  moved: 'moved',
  gone: 'gone',
  failing: 'failing',
  back: 'back',
};

/** An event in one line, beside its URL. */
export function summaryOf({ kind, title, target, missing, problem }: WatchEvent): string {
  const what = title === null || title === '' ? VERBS[kind] : `${VERBS[kind]}: ${title}`;
  const leads = target === null ? what : `${what} -> ${target}`;
  const finds = missing === '' ? [] : [`nothing on the page matches ${missing}`];
  return [leads, ...finds, ...(problem === null ? [] : [problem])].join('; ');
}
