import { joinedFields } from '../../core/domain/crawl/headers/header-fields.ts';
import { changeDistance, changeSignatureOf } from '../../core/domain/crawl/states/duplicate.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { ParsedRecord, SegmentStore } from '../../core/ports/segment-store.ts';
import { metadataOf } from '../../core/steps/fetch/parse.ts';
import { shownResponse } from '../../core/steps/render/visit-rendered.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import type { ReadPage } from '../../page/diff/page-places.ts';
import { type PlaceDiff, placeDiff } from '../../page/diff/place-diff.ts';

/** A stored content of a page. */
export interface PageVersion {
  readonly segment: string;
  /** When it was fetched, ISO 8601. */
  readonly at: string;
  /** Digest of the body: equal for equal contents. */
  readonly digest: string;
}

export interface DiffedVersion extends PageVersion {
  readonly title: string | null;
  /** 16 hex digits; `null` for a page without words. */
  readonly signature: string | null;
  /** Present where a screenshot is stored beside it. */
  readonly hasScreenshot?: true;
}

/** Differences by place ({@link placeDiff}) between the readable texts of two versions. */
export interface PageDiff extends PlaceDiff {
  readonly url: string;
  readonly from: DiffedVersion;
  readonly to: DiffedVersion;
  /** Hamming distance of the signatures, bits; `null` if they cannot be compared. */
  readonly distance: number | null;
}

/** Chooses the newest version of a segment, or the newest fetched at or before a time (ms since the epoch). */
export type VersionChoice = { readonly segment: string } | { readonly at: number };

/** Every full content of a page in the segments, oldest first. Reads the fetched records of all segments. */
export async function pageVersions(segments: SegmentStore, input: string): Promise<readonly PageVersion[]> {
  const url = canonicalOf(input);
  const versions: PageVersion[] = [];
  for (const { id } of await segments.list()) {
    const segment = await segments.open(id, 'read');
    try {
      const found = await segment.findFetched(url);
      if (found?.outcome.kind !== 'success') continue;
      versions.push({ segment: id, at: isoTime(found.outcome.at), digest: found.outcome.digest });
    } finally {
      await segment.close();
    }
  }
  return versions.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/**
 * Compares two stored versions of a page word by word, place by place; by default the newest and the last one before it
 * with another digest. Both are parsed by the current plugins. Rejects with `segment-missing` when fewer than two are
 * stored, and with `parse-failed` when one cannot be parsed.
 */
export async function diffPage(
  deps: Pick<CrawlDeps, 'segments' | 'pages'>,
  input: string,
  choice: { readonly from?: VersionChoice; readonly to?: VersionChoice } = {},
): Promise<PageDiff> {
  const url = canonicalOf(input);
  const versions = await pageVersions(deps.segments, url);
  if (versions.length === 0) throw new CrawlError('segment-missing', `no segment holds a content of ${url}`);
  const to = chosen(versions, choice.to, url, '--to') ?? (versions.at(-1) as PageVersion);
  const from = chosen(versions, choice.from, url, '--from') ?? before(versions, to);
  if (from === undefined) {
    throw new CrawlError(
      'segment-missing',
      `only one content of ${url} is stored before ${to.at}: segment ${to.segment}; a difference needs two`,
    );
  }
  const [old, young] = [await parsedVersion(deps, url, from), await parsedVersion(deps, url, to)];
  return {
    url,
    from: versionView(from, old),
    to: versionView(to, young),
    distance: distanceOf(old.record, young.record),
    ...placeDiff(old.page, young.page),
  };
}

function canonicalOf(input: string): string {
  const canonical = canonicalUrl(input);
  if ('error' in canonical) throw new CrawlError('url-invalid', `${input}: ${canonical.error}`);
  return canonical.url;
}

function chosen(
  versions: readonly PageVersion[],
  choice: VersionChoice | undefined,
  url: string,
  option: string,
): PageVersion | undefined {
  if (choice === undefined) return undefined;
  const isMeant = ({ segment, at }: PageVersion): boolean =>
    'segment' in choice ? segment === choice.segment : Date.parse(at) <= choice.at;
  const found = versions.filter(isMeant).at(-1);
  if (found !== undefined) return found;
  const meant = 'segment' in choice ? `in segment ${choice.segment}` : `at or before ${isoTime(choice.at)}`;
  const known = versions.map(({ segment, at }) => `${segment} (${at})`).join(', ');
  throw new CrawlError('segment-missing', `${option}: no content of ${url} ${meant}; stored are: ${known}`);
}

/** The last earlier version with another digest, otherwise the last earlier one. */
function before(versions: readonly PageVersion[], to: PageVersion): PageVersion | undefined {
  const earlier = versions.slice(0, versions.indexOf(to));
  return earlier.findLast(({ digest }) => digest !== to.digest) ?? earlier.at(-1);
}

interface ParsedVersion {
  readonly record: ParsedRecord;
  readonly page: ReadPage;
  readonly hasScreenshot: boolean;
}

async function parsedVersion(
  { segments, pages }: Pick<CrawlDeps, 'segments' | 'pages'>,
  url: string,
  { segment: id }: PageVersion,
): Promise<ParsedVersion> {
  const segment = await segments.open(id, 'read');
  try {
    const fetched = await segment.findFetched(url);
    const wire = fetched === undefined || fetched.warc === null ? null : await segment.readResponse(fetched.warc);
    if (fetched?.outcome.kind !== 'success' || wire === null) {
      throw new CrawlError('segment-missing', `segment ${id} has no response of ${url}`);
    }
    const shown = shownResponse(wire);
    const headers = joinedFields(shown.rawHeaders);
    const contentType = wire.rendered === undefined ? fetched.outcome.contentType : (headers['content-type'] ?? null);
    const body = await pages.undoContentCoding(shown.body ?? new Uint8Array(0), headers['content-encoding']);
    const metadata = (await metadataOf(segment)).get(fetched.index) ?? {};
    const { record, result } = await pages.parseLive({ index: 0, url, contentType, headers, body, metadata });
    const hasScreenshot = wire.rendered?.screenshot !== undefined;
    if (record.outcome.kind === 'parsed') return { record, page: result, hasScreenshot };
    const { code, message } = record.outcome;
    throw new CrawlError('parse-failed', `the content of ${url} in segment ${id}: ${code}: ${message}`);
  } finally {
    await segment.close();
  }
}

function versionView(version: PageVersion, { record: { outcome }, hasScreenshot }: ParsedVersion): DiffedVersion {
  const view = { ...version, ...(hasScreenshot && { hasScreenshot }) };
  if (outcome.kind !== 'parsed') return { ...view, title: null, signature: null };
  return { ...view, title: outcome.title, signature: changeSignatureOf(outcome) };
}

function distanceOf({ outcome: a }: ParsedRecord, { outcome: b }: ParsedRecord): number | null {
  return a.kind === 'parsed' && b.kind === 'parsed' ? changeDistance(a, b) : null;
}
