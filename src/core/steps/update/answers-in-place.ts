import { asLoginRequired } from '../../domain/crawl/states/outcome.ts';
import {
  asSoft404,
  isLikeMissingPage,
  isMissingPageUrl,
  type MissingPage,
  missingPageOf,
} from '../../domain/crawl/states/soft-404.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { HostObservation } from '../../ports/segment-store.ts';
import type { JoinedRecord } from './known-visits.ts';

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
