import { createHash } from 'node:crypto';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import {
  type DomainFamilies,
  familiesToKeep,
  type StoredFamily,
} from '../../core/domain/url/families/stored-families.ts';
import { FAMILY_OPTIONS, pathAndQuery } from '../../core/domain/url/families/url-families.ts';
import type { CrawlDb, CrawlDbPut } from '../../core/ports/crawl-db.ts';
import { FAMILIES_PRINT_KEY, released } from '../../core/steps/update/link-treatment.ts';
import type { BatchLines } from '../dedup/batch-pairs.ts';

export interface AppliedFamilies {
  /** Domains with noise families, and the number of these families and of the URLs in them. */
  readonly domains: number;
  readonly families: number;
  readonly urls: number;
  /** Domains that had noise families before, and have none now. */
  readonly removed: number;
}

/**
 * The noise families from the output of the job `linkclusters`. Rejects with `usage-invalid`, naming file and line, for
 * any other kind of line.
 */
export async function noiseFamilies(files: readonly BatchLines[], now: number): Promise<readonly DomainFamilies[]> {
  const kept: DomainFamilies[] = [];
  for await (const { domain, families } of familiesOfFiles(files)) {
    const keep = familiesToKeep(families);
    if (keep.length > 0) kept.push({ domain, appliedAt: now, families: keep });
  }
  return kept;
}

/** Replaces the stored families, all in one batch, so that a crash leaves either the old or the new ones. */
export async function keepFamilies(db: CrawlDb, kept: readonly DomainFamilies[]): Promise<AppliedFamilies> {
  const domains = new Set(kept.map(({ domain }) => domain));
  const gone: DomainFamilies[] = [];
  for await (const row of db.scanLinkFamilies()) if (!domains.has(row.domain)) gone.push({ ...row, families: [] });
  const meta = { [FAMILIES_PRINT_KEY]: printOf(kept) };
  await db.write({ linkFamilies: [...kept, ...gone], meta }, { durable: true });
  const noise = kept.flatMap(({ families }) => families.filter(({ isNoise }) => isNoise));
  return {
    domains: kept.length,
    families: noise.length,
    urls: noise.reduce((sum, { size }) => sum + size, 0),
    removed: gone.length,
  };
}

/** Changes with the families, but not with the order of domains or the time of application; empty without any. */
function printOf(domains: readonly DomainFamilies[]): string {
  if (domains.length === 0) return '';
  const hash = createHash('sha256');
  const ordered = domains.toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
  for (const { domain, families } of ordered) hash.update(JSON.stringify([domain, families]));
  return hash.digest('hex').slice(0, 16);
}

const VERDICTS: readonly string[] = ['noise', 'content'];

interface FamiliesOfDomain {
  readonly domain: string;
  readonly families: StoredFamily[];
}

/** Families by domain; the lines of a domain are adjacent, in one file. */
async function* familiesOfFiles(files: readonly BatchLines[]): AsyncGenerator<FamiliesOfDomain> {
  const places = new Map<string, string>();
  for (const { name, lines } of files) {
    let domain = null as FamiliesOfDomain | null;
    let number = 0;
    for await (const line of lines) {
      const place = `${name}, line ${++number}`;
      const found = familyOf(line, place);
      if (found === null) continue;
      if (found.domain !== domain?.domain) {
        if (domain !== null) yield domain;
        const other = places.get(found.domain);
        if (other !== undefined) {
          throw new CrawlError(
            'usage-invalid',
            `${place}: ${found.domain} was met before, at ${other}: the lines of a domain were expected to lie ` +
              'together in one file, as one reducer writes them; nothing was changed',
          );
        }
        places.set(found.domain, place);
        domain = { domain: found.domain, families: [] };
      }
      domain.families.push(found.family);
    }
    if (domain !== null) yield domain;
  }
}

/** `null`: a line about URLs that belong to no family. */
function familyOf(line: string, place: string): { readonly domain: string; readonly family: StoredFamily } | null {
  if (line.trim() === '') return null;
  const [domain = '', number = '', size = '', verdict = '', similarity = '', first = '', template, visits] =
    line.split('\t');
  if (number === 'outside' || size === 'deviant') return null;
  const similarityToNoise = Number(similarity);
  const isFamily = domain !== '' && VERDICTS.includes(verdict) && first !== '' && /^\d+$/.test(size);
  if (!isFamily || !(similarityToNoise >= 0 && similarityToNoise <= 1)) {
    throw new CrawlError(
      'usage-invalid',
      `${place}: the output of "incrawl mr reduce linkclusters" was expected (domain, number, size, noise or ` +
        `content, similarity, URL, with tabs between them), got "${line.slice(0, 80)}"; nothing was changed`,
    );
  }
  const leader = (first.startsWith('/') ? first : pathAndQuery(first)).slice(0, FAMILY_OPTIONS.maxChars);
  const family = { leader, size: Number(size), isNoise: verdict === 'noise', similarityToNoise };
  if (template === undefined) return { domain, family };
  return { domain, family: { ...family, visited: { template, visits: Number(visits) } } };
}

export interface UndoneFamilies {
  readonly domains: number;
  readonly families: number;
  /** Number of records whose previous score and time are restored. */
  readonly restored: number;
}

/** Records restored per batch. */
const CHUNK = 1_000;

/**
 * Removes the noise families of a domain, or all, and restores the records that entered through them. The families are
 * removed last, so that an interrupted run can be repeated. Links that were dropped are judged again by the next crawl.
 * @param domain `null`: all; a domain without families restores what an earlier run left over
 */
export async function undoFamilies(db: CrawlDb, domain: string | null, now: number): Promise<UndoneFamilies> {
  let restored = 0;
  let puts: CrawlDbPut[] = [];
  const flush = async (): Promise<void> => {
    if (puts.length > 0) await db.write({ puts });
    restored += puts.length;
    puts = [];
  };
  for await (const datum of recordsOf(db, domain)) {
    const former = released(datum, now);
    if (former === null) continue;
    puts.push({ datum: former, previous: datum });
    if (puts.length >= CHUNK) await flush();
  }
  await flush();
  const gone: DomainFamilies[] = [];
  const left: DomainFamilies[] = [];
  let families = 0;
  for await (const row of db.scanLinkFamilies()) {
    if (domain !== null && row.domain !== domain) {
      left.push(row);
      continue;
    }
    families += row.families.filter(({ isNoise }) => isNoise).length;
    gone.push({ ...row, families: [] });
  }
  await db.write({ linkFamilies: gone, meta: { [FAMILIES_PRINT_KEY]: printOf(left) } }, { durable: true });
  return { domains: gone.length, families, restored };
}

async function* recordsOf(db: CrawlDb, domain: string | null): AsyncGenerator<CrawlDatum> {
  if (domain === null) yield* db.scan();
  // Only hosts have ports; hosts that are addresses are their own domains.
  else if (hostOf(`http://${domain}/`).includes(':')) yield* db.scan({ host: domain });
  else yield* db.scan({ domain });
}
