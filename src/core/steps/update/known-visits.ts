import { wasNeverThere } from '../../domain/crawl/revisit/missing-links.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { canonicalOf } from '../../domain/crawl/states/duplicate.ts';
import { asLoginRequired, type ParseOutcome } from '../../domain/crawl/states/outcome.ts';
import {
  asSoft404,
  isLikeMissingPage,
  isMissingPageUrl,
  type MissingPage,
  missingPageOf,
} from '../../domain/crawl/states/soft-404.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { FetchedRecord, HostObservation, ParsedRecord, Segment } from '../../ports/segment-store.ts';
import type { FirstRecords } from './first-records.ts';
import type { LinkDeps } from './found-links.ts';

export interface JoinedRecord {
  readonly fetched: FetchedRecord;
  /** `null` where there was nothing to parse. */
  readonly parsed: ParsedRecord | null;
}

/**
 * Fetched records with their parse output, in the order fetched. Pages are parsed nearly in that order, so few parse
 * outputs are held back while the one of a slow page is still to come. Texts are left out, since updatedb needs none.
 */
async function* joinParsed(segment: Segment): AsyncGenerator<JoinedRecord> {
  const waiting = new Map<number, ParsedRecord>();
  const parsed = segment.parsed({ texts: false })[Symbol.asyncIterator]();
  try {
    for await (const fetched of segment.fetched()) {
      if (fetched.outcome.kind !== 'success' || !segment.hasParsed(fetched.index)) {
        yield { fetched, parsed: null };
        continue;
      }
      let own = waiting.get(fetched.index);
      while (own === undefined) {
        const next = await parsed.next();
        if (next.done) {
          throw new CrawlError(
            'segment-corrupt',
            `the parse output of ${fetched.url} is missing; parse the segment again (incrawl parse --force)`,
          );
        }
        if (next.value.index === fetched.index) own = next.value;
        else waiting.set(next.value.index, next.value);
      }
      waiting.delete(fetched.index);
      yield { fetched, parsed: own };
    }
  } finally {
    await parsed.return?.();
  }
}

/** The record with its visit at `now` at the latest: a later stamp is of a clock that was ahead, and was set since. */
export function stampedBy(joined: JoinedRecord, now: number): JoinedRecord {
  const { fetched } = joined;
  if (fetched.outcome.at <= now) return joined;
  return { ...joined, fetched: { ...fetched, outcome: { ...fetched.outcome, at: now } } };
}

interface BatchLimits {
  /** Records to skip before the first batch. */
  readonly from: number;
  /** Records of a batch, at most. */
  readonly records: number;
  /** Outlinks in a batch, beyond which no more records join it. */
  readonly links: number;
}

/** {@link joinParsed} in batches, none of them empty. */
export async function* joinedBatches(segment: Segment, limits: BatchLimits): AsyncGenerator<JoinedRecord[]> {
  let position = 0;
  let batch: JoinedRecord[] = [];
  let links = 0;
  for await (const joined of joinParsed(segment)) {
    if (position++ < limits.from) continue;
    batch.push(joined);
    links += joined.parsed?.outlinks.length ?? 0;
    if (batch.length < limits.records && links < limits.links) continue;
    yield batch;
    batch = [];
    links = 0;
  }
  if (batch.length > 0) yield batch;
}

/** A visit to a page that is known, or was listed. */
export interface KnownVisit extends JoinedRecord {
  readonly previous: CrawlDatum;
  /** Whether the crawl db has its record; it may lack that of a page that {@link FirstRecords} knows. */
  readonly isStored: boolean;
  /** Whether it redirects to a URL that never existed, as far as is known. */
  readonly isTargetMissing: boolean;
}

interface KnownVisitDeps {
  readonly db: Pick<CrawlDb, 'getMany'>;
  readonly links: Pick<LinkDeps, 'urls' | 'seedHosts'>;
  readonly firstRecords: FirstRecords;
}

/** The visits with the records of their pages. A record that was purged since its page was selected stays away. */
export async function knownVisits(deps: KnownVisitDeps, chunk: readonly JoinedRecord[]): Promise<KnownVisit[]> {
  const records = await deps.db.getMany(chunk.map(({ fetched }) => fetched.url));
  const visits: KnownVisit[] = [];
  for (const [i, { fetched, parsed }] of chunk.entries()) {
    const record = records[i];
    const previous = record ?? (await deps.firstRecords.of(fetched.url));
    if (previous === null) continue;
    const outcome = parsed === null ? null : spelledVariant(deps.links, previous, parsed.outcome);
    const isSpelled = parsed === null || outcome === null || outcome === parsed.outcome;
    const spelled = isSpelled ? parsed : { ...parsed, outcome };
    visits.push({ fetched, parsed: spelled, previous, isStored: record !== undefined, isTargetMissing: false });
  }
  return withTargets(deps.db, visits);
}

/** A target is visited in the round of its redirect, so the same chunk may tell more of it than its record. */
async function withTargets(db: KnownVisitDeps['db'], visits: readonly KnownVisit[]): Promise<KnownVisit[]> {
  const targets = new Map(visits.map((visit) => [visit, targetOf(visit)]));
  const urls = [...new Set([...targets.values()].filter((url) => url !== null))];
  if (urls.length === 0) return [...visits];
  const missing = new Set(
    (await db.getMany(urls)).flatMap((record) => (record && wasNeverThere(record) ? record.url : [])),
  );
  for (const { fetched, previous } of visits) {
    if (fetched.outcome.kind === 'gone' && previous.digest === null) missing.add(fetched.url);
    else if (fetched.outcome.requests > 0) missing.delete(fetched.url);
  }
  return visits.map((visit) => ({ ...visit, isTargetMissing: missing.has(targets.get(visit) ?? '') }));
}

function targetOf({ fetched: { url, outcome } }: KnownVisit): string | null {
  if (outcome.kind !== 'redirect') return null;
  const target = canonicalUrl(outcome.target, url);
  return 'error' in target || target.url === url ? null : target.url;
}

/**
 * A parse outcome that names the page of which its page is a version as the crawl db spells it. A page is no version of
 * itself, under whatever spelling.
 */
export function spelledVariant(
  { urls, seedHosts }: Pick<LinkDeps, 'urls' | 'seedHosts'>,
  page: { readonly url: string; readonly depth: number },
  outcome: ParseOutcome,
): ParseOutcome {
  const declared = outcome.kind === 'parsed' ? canonicalOf(outcome) : null;
  if (outcome.kind !== 'parsed' || declared === null) return outcome;
  const { url } = urls.apply(declared, { from: page.url, depth: page.depth, seedHosts, scope: 'outlink' });
  if (url === declared) return outcome;
  const { variant, variantOf, ...metadata } = outcome.metadata;
  return { ...outcome, metadata: url === page.url ? metadata : { ...outcome.metadata, variantOf: url ?? declared } };
}

/**
 * The records of a chunk in which soft 404s have become "gone": pages with the text that their host gives for an
 * address that cannot exist. Answers to probes become observations of their hosts. Where a start page or a seed has
 * that text too, the host answers everything alike, and its answer is kept as one that no page matches.
 */
export async function withSoft404(db: CrawlDb, chunk: readonly JoinedRecord[]): Promise<readonly JoinedRecord[]> {
  const hosts = [...new Set(chunk.map(({ fetched }) => fetched.host))];
  const rows = await db.hostRows(hosts);
  const nothing = new Map(hosts.map((host, i) => [host, rows[i]?.facts.nothing ?? null]));
  const observations = new Map<JoinedRecord, MissingPage>();
  const probes = chunk.filter(({ fetched }) => isMissingPageUrl(fetched.url));
  if (probes.length === 0 && [...nothing.values()].every((answer) => answer === null)) return chunk;
  for (const record of probes) {
    const answer = missingPageOf(record.fetched.outcome, record.parsed?.outcome ?? null);
    observations.set(record, answer);
    nothing.set(record.fetched.host, answer);
  }
  const alike = chunk.filter(
    ({ fetched, parsed }) =>
      !isMissingPageUrl(fetched.url) && isLikeMissingPage(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null),
  );
  const known = await db.getMany(alike.map(({ fetched }) => fetched.url));
  for (const [i, record] of alike.entries()) {
    const { host, url, outcome } = record.fetched;
    if (known[i]?.seed !== true && new URL(url).pathname !== '/') continue;
    const unmatched = { at: outcome.at, signature: null, signatureName: null, textChars: 0 };
    observations.set(record, unmatched);
    nothing.set(host, unmatched);
  }
  return chunk.map((record): JoinedRecord => {
    const { fetched, parsed } = record;
    const answer = observations.get(record);
    if (answer !== undefined) {
      const observation: HostObservation = { ...fetched.observation, nothing: answer };
      return { parsed, fetched: { ...fetched, observation } };
    }
    const { outcome } = fetched;
    const isSoft =
      outcome.kind === 'success' &&
      alike.includes(record) &&
      isLikeMissingPage(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null);
    return isSoft ? { parsed: null, fetched: { ...fetched, outcome: asSoft404(outcome) } } : record;
  });
}

/** The login page of a URL, canonical; `undefined`: none is known, and no page is compared. */
export type LoginOf = (url: string) => string | undefined;

/**
 * The records of a chunk in which pages that were answered with their login page have failed: redirects to it, and
 * pages with its text. Its text is that of its own record, or of its visit in this chunk.
 */
export async function withLoginPages(
  db: Pick<CrawlDb, 'getMany'>,
  chunk: readonly JoinedRecord[],
  loginOf: LoginOf,
): Promise<readonly JoinedRecord[]> {
  const logins = new Set(chunk.flatMap(({ fetched }) => loginOf(fetched.url) ?? []));
  if (logins.size === 0) return chunk;
  const known = new Map<string, MissingPage>();
  const records = await db.getMany([...logins]);
  for (const record of records) {
    if (record === undefined || record.signature === null) continue;
    const { url, signature, signatureName, textChars } = record;
    known.set(url, { at: 0, signature, signatureName, textChars: textChars ?? 0 });
  }
  for (const { fetched, parsed } of chunk) {
    if (!logins.has(fetched.url) || fetched.outcome.kind !== 'success') continue;
    known.set(fetched.url, missingPageOf(fetched.outcome, parsed?.outcome ?? null));
  }
  return chunk.map((record): JoinedRecord => {
    const { fetched, parsed } = record;
    const { outcome, url } = fetched;
    const login = loginOf(url);
    if (login === undefined || withoutQuery(url) === withoutQuery(login)) return record;
    const isLogin =
      outcome.kind === 'redirect'
        ? leadsTo(outcome.target, url, login)
        : outcome.kind === 'success' && isLikeMissingPage(parsed?.outcome ?? null, known.get(login) ?? null);
    return isLogin && (outcome.kind === 'redirect' || outcome.kind === 'success')
      ? { parsed: null, fetched: { ...fetched, outcome: asLoginRequired(outcome, login) } }
      : record;
  });
}

/** The query of a login page says where to go on. */
function leadsTo(target: string, from: string, login: string): boolean {
  const canonical = canonicalUrl(target, from);
  return !('error' in canonical) && withoutQuery(canonical.url) === withoutQuery(login);
}

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? url;
