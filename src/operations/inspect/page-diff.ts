import { CrawlError } from '../../domain/errors.ts';
import { type WordDiff, wordDiff } from '../../domain/page/diff/word-diff.ts';
import { hammingDistance } from '../../domain/page/near/hamming.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { ParsedRecord, SegmentStore } from '../../ports/segment-store.ts';
import { isoTime } from '../../steps/inspect/views.ts';

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
}

export interface PageDiff extends Omit<WordDiff, 'edits'> {
  readonly url: string;
  readonly from: DiffedVersion;
  readonly to: DiffedVersion;
  /** Hamming distance of the signatures, bits; `null` where they do not compare. */
  readonly distance: number | null;
  /** Edits of the stored text (the main content, where it was found). */
  readonly edits: WordDiff['edits'];
}

/** Chooses the newest version of a segment, or the newest fetched at or before a time (ms since the epoch). */
export type VersionChoice = { readonly segment: string } | { readonly at: number };

/** Every full content of a page that the segments hold, oldest first. Reads the fetched records of all segments. */
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
 * Compares two stored versions of a page word by word; by default the newest and the last one before it with another
 * digest. Rejects with `segment-missing` when fewer than two are stored, or when one has no text.
 */
export async function diffPage(
  segments: SegmentStore,
  input: string,
  choice: { readonly from?: VersionChoice; readonly to?: VersionChoice } = {},
): Promise<PageDiff> {
  const url = canonicalOf(input);
  const versions = await pageVersions(segments, url);
  if (versions.length === 0) throw new CrawlError('segment-missing', `no segment holds a content of ${url}`);
  const to = chosen(versions, choice.to, url, '--to') ?? (versions.at(-1) as PageVersion);
  const from = chosen(versions, choice.from, url, '--from') ?? before(versions, to);
  if (from === undefined) {
    throw new CrawlError(
      'segment-missing',
      `only one content of ${url} is stored before ${to.at}: segment ${to.segment}; a difference needs two`,
    );
  }
  const [old, young] = [await parsedOf(segments, url, from), await parsedOf(segments, url, to)];
  const difference = wordDiff(old.text, young.text);
  return {
    url,
    from: versionView(from, old),
    to: versionView(to, young),
    distance: distanceOf(old, young),
    ...difference,
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

/** The last version before it with another digest, else the last one before it. */
function before(versions: readonly PageVersion[], to: PageVersion): PageVersion | undefined {
  const earlier = versions.slice(0, versions.indexOf(to));
  return earlier.findLast(({ digest }) => digest !== to.digest) ?? earlier.at(-1);
}

async function parsedOf(segments: SegmentStore, url: string, { segment: id }: PageVersion): Promise<ParsedRecord> {
  const segment = await segments.open(id, 'read');
  try {
    const parsed = await segment.findParsed(url);
    if (parsed?.outcome.kind === 'parsed') return parsed;
    const why = parsed === undefined ? 'it has not been parsed' : 'it could not be parsed';
    throw new CrawlError('segment-missing', `segment ${id} has no text of ${url}: ${why}`);
  } finally {
    await segment.close();
  }
}

function versionView(version: PageVersion, { outcome }: ParsedRecord): DiffedVersion {
  const isParsed = outcome.kind === 'parsed';
  return { ...version, title: isParsed ? outcome.title : null, signature: isParsed ? outcome.signature : null };
}

function distanceOf({ outcome: a }: ParsedRecord, { outcome: b }: ParsedRecord): number | null {
  if (a.kind !== 'parsed' || b.kind !== 'parsed' || a.signature === null || b.signature === null) return null;
  return a.signatureName === b.signatureName ? hammingDistance(a.signature, b.signature) : null;
}
