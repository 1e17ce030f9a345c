import { murmur3 } from '../../../../page/near/hashes.ts';
import { HOUR_MS } from '../../time.ts';
import { folderOf } from '../hazard/expectation.ts';
import { type CrawlDatum, isAnswered, type Visit } from '../states/datum.ts';
import type { SettlePolicy } from './next-visit.ts';

/** Whether a URL has never brought a page: missing since its first visit, or a redirect alone. */
export const isPageless = ({ digest }: Pick<CrawlDatum, 'digest'>): boolean => digest === null;

/** Whether a URL is known to be missing and never existed: a dead link, not a page that has gone. */
export const wasNeverThere = ({ state, digest }: Pick<CrawlDatum, 'state' | 'digest'>): boolean =>
  state === 'gone' && digest === null;

/**
 * Statuses by which a server says that the request can never succeed. 403 is not among them: it is also how a host
 * keeps a crawler out for a while.
 */
const REFUSED_FOR_GOOD: ReadonlySet<number | null> = new Set([400, 401, 405, 406, 414, 451]);

/**
 * Whether a failure of a URL that has never brought a page is like a page that is missing. A seed is meant to be there.
 */
export const isRefusedForGood = (datum: CrawlDatum, status: number | null): boolean =>
  isPageless(datum) && !datum.seed && REFUSED_FOR_GOOD.has(status);

/**
 * "Gone" visits at the end of the ring, including visits left out because others of the host had found nothing;
 * failures between them are skipped.
 */
export const absentInARow = ({ visits }: Pick<CrawlDatum, 'visits'>): number =>
  inARow(visits, ({ outcome }) => outcome === 'gone' || outcome === 'denied');

/** Redirects at the end of the ring; failures between them are skipped. */
export const redirectsInARow = ({ visits }: Pick<CrawlDatum, 'visits'>): number =>
  inARow(visits, ({ outcome }) => outcome === 'redirect');

function inARow(visits: readonly Visit[], isCounted: (visit: Visit) => boolean): number {
  let count = 0;
  for (let i = visits.length - 1; i >= 0; i--) {
    const visit = visits[i] as Visit;
    if (isCounted(visit)) count++;
    else if (isAnswered(visit)) break;
  }
  return count;
}

/** What requests for URLs that did not exist have shown of a host. */
export interface MissingLinks {
  /** Times in a row that a few of its dead links were requested, and none existed. */
  readonly times: number;
  /** Last of these times, ms since the epoch; 0: there was none. */
  readonly at: number;
  /** Folders with dead links, the one met last at the end; at most {@link MAX_FOLDERS}. */
  readonly folders: readonly FolderAnswers[];
}

/** Answers to requests for the URLs of a folder. */
interface FolderAnswers {
  /** Hash of its name ({@link folderNumber}). */
  readonly folder: number;
  readonly missing: number;
  readonly found: number;
}

export const NO_MISSING_LINKS: MissingLinks = Object.freeze({ times: 0, at: 0, folders: [] });

/**
 * How a URL that probably does not exist is requested. `gone`: it existed before. `missing`: it did not exist at its
 * first visit. `dead`: nor later, or nothing in its folder ever exists.
 */
export type Absence = 'gone' | 'missing' | 'dead';

const MAX_FOLDERS = 64;
/** Answers of a folder that are told apart; beyond it both counts are halved. */
const MAX_ANSWERS = 1_000;
/** A folder is dead with so many missing URLs at least, and so many for each one that was found. */
const LEAST_MISSING = 10;
const MISSING_PER_FOUND = 20;
/** Requests within this time count as one. */
const ONE_TIME_MS = 6 * HOUR_MS;

/**
 * Number of the folder of a URL. Digits count as equal, so that the folders of all versions of a documentation are one;
 * and index pages of sibling folders are siblings.
 */
export function folderNumber(url: string): number {
  const folder = folderOf(url).replace(/\d+/g, '#');
  const isIndex = folder.length > 1 && url.replace(/\?.*$/, '').endsWith('/');
  return murmur3(isIndex ? `${folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)}*/` : folder);
}

/** Whether hardly any URL of its folder ever existed. */
export function isInDeadFolder({ folders }: Pick<MissingLinks, 'folders'>, url: string): boolean {
  const number = folderNumber(url);
  const answers = folders.find(({ folder }) => folder === number);
  if (answers === undefined) return false;
  return answers.missing >= Math.max(LEAST_MISSING, MISSING_PER_FOUND * answers.found);
}

/** How a URL is requested; `null`: like any other. So is one that the operator has asked for. */
export function absenceOf(datum: CrawlDatum, host: MissingLinks | null, policy: SettlePolicy): Absence | null {
  if (datum.seed || datum.fixedIntervalMs !== null || isBroughtForward(datum, policy)) return null;
  const isDead = isInDeadFolder(host ?? NO_MISSING_LINKS, datum.url);
  if (datum.state === 'unfetched') return isDead && datum.failures === 0 ? 'dead' : null;
  if (datum.state !== 'gone') return null;
  if (!isPageless(datum)) return 'gone';
  return isDead || absentInARow(datum) > 1 ? 'dead' : 'missing';
}

/** Pauses between the visits to a URL that is not there, ms. */
export const absencePauses = (datum: Pick<CrawlDatum, 'digest'>, policy: SettlePolicy): readonly number[] =>
  isPageless(datum) ? (policy.missingIntervalsMs ?? policy.goneIntervalsMs) : policy.goneIntervalsMs;

/** A URL that was left out comes back a little before those that were requested. */
export const LEFT_OUT_PART = 0.99;

/** Whether it is to be visited before its pause is over, as "incrawl due retry" or a sitemap wants. */
function isBroughtForward(datum: CrawlDatum, policy: SettlePolicy): boolean {
  const last = datum.visits.at(-1);
  if (last === undefined || datum.nextFetchAt === null || datum.failures > 0) return false;
  const pauses = absencePauses(datum, policy);
  const pause = pauses[Math.min(absentInARow(datum), pauses.length) - 1] ?? 0;
  return datum.nextFetchAt + 1 < last.at + LEFT_OUT_PART * pause;
}

/** When dead links of the host are requested again, ms since the epoch. */
export function deadLinksFrom({ times, at }: MissingLinks, pauses: readonly number[]): number {
  return times === 0 ? 0 : at + (pauses[Math.min(times, pauses.length) - 1] ?? 0);
}

/** The memory after one of the dead links was requested. */
export function afterDeadLink(known: MissingLinks | null, isThere: boolean, at: number): MissingLinks {
  const before = known ?? NO_MISSING_LINKS;
  if (isThere) return { ...before, times: 0, at };
  return at - before.at < ONE_TIME_MS ? before : { ...before, times: before.times + 1, at };
}

/** After URLs were answered for. Folders are remembered from the first URL on that is missing. */
export function afterAnswers(
  known: MissingLinks | null,
  answers: readonly { readonly url: string; readonly isThere: boolean }[],
): MissingLinks | null {
  const isNothingMissing = (known?.folders.length ?? 0) === 0 && answers.every(({ isThere }) => isThere);
  if (isNothingMissing) return known;
  const folders = new Map((known?.folders ?? []).map((each) => [each.folder, each]));
  const seen = new Map<number, { missing: number; found: number }>();
  for (const { url, isThere } of answers) {
    const folder = folderNumber(url);
    const counts = seen.get(folder) ?? { missing: 0, found: 0 };
    if (isThere) counts.found++;
    else counts.missing++;
    seen.set(folder, counts);
  }
  let isOther = false;
  for (const [folder, counts] of seen) {
    const before = folders.get(folder);
    if (before === undefined && counts.missing === 0) continue;
    isOther = true;
    const [missing, found] = [(before?.missing ?? 0) + counts.missing, (before?.found ?? 0) + counts.found];
    const scale = missing + found > MAX_ANSWERS ? 2 : 1;
    folders.delete(folder);
    folders.set(folder, { folder, missing: Math.ceil(missing / scale), found: Math.ceil(found / scale) });
  }
  return isOther ? { ...(known ?? NO_MISSING_LINKS), folders: [...folders.values()].slice(-MAX_FOLDERS) } : known;
}
