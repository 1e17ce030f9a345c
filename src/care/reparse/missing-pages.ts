// care/reparse/: stored pages parsed anew, and what differs brought to the records that are there.

import { isMissingPageUrl, type MissingPage, missingPageOf } from '../../core/domain/crawl/states/soft-404.ts';
import { decodeParsed } from '../../core/plugin-host/parsing/encode-parsed.ts';
import type { CrawlDb, HostRow } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import { hasStoredPage, type ParseDeps, type StoredRecord } from '../../core/steps/fetch/parse.ts';
import { readStored } from './parse-ahead.ts';

export interface MissingPageDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly parse: ParseDeps;
}

/**
 * Parses the stored answers of hosts to addresses that cannot exist anew: the next visits compare pages with them.
 * Resolves with the number of answers that differ.
 * @param without segments that are left out
 */
export async function reparseMissingPages(
  { db, segments, parse }: MissingPageDeps,
  host: string | undefined,
  without: ReadonlySet<string>,
): Promise<number> {
  const answers = await signedAnswers(db, host);
  if (answers.size === 0) return 0;
  let differing = 0;
  for (const { id } of await segments.list()) {
    if (without.has(id)) continue;
    const segment = await segments.open(id, 'read');
    try {
      for await (const fetched of segment.fetched()) {
        const known = answers.get(fetched.host);
        if (known === undefined || !isAnswerOf(fetched, known)) continue;
        const fresh = await parsedAgain(parse, segment, fetched);
        if (fresh === null || isAlike(known, fresh)) continue;
        await replaceAnswer(db, fetched.host, fresh);
        differing++;
      }
    } finally {
      await segment.close();
    }
  }
  return differing;
}

async function signedAnswers(db: CrawlDb, host: string | undefined): Promise<ReadonlyMap<string, MissingPage>> {
  const answers = new Map<string, MissingPage>();
  const add = (row: HostRow | undefined): void => {
    const answer = row?.facts.nothing ?? null;
    if (row !== undefined && answer !== null && answer.signature !== null) answers.set(row.host, answer);
  };
  if (host !== undefined) for (const row of await db.hostRows([host])) add(row);
  else for await (const row of db.hosts()) add(row);
  return answers;
}

const isAnswerOf = (fetched: FetchedRecord, { at }: MissingPage): fetched is StoredRecord =>
  fetched.outcome.at === at && isMissingPageUrl(fetched.url) && hasStoredPage(fetched);

/** `null`: its response cannot be read. */
async function parsedAgain(parse: ParseDeps, segment: Segment, fetched: StoredRecord): Promise<MissingPage | null> {
  const request = await readStored(parse, segment, fetched, {});
  if ('fault' in request) return null;
  const { encoded } = await parse.parser.parse(request);
  return missingPageOf(fetched.outcome, decodeParsed(encoded).outcome);
}

const isAlike = (a: MissingPage, b: MissingPage): boolean =>
  a.signature === b.signature && a.signatureName === b.signatureName && a.textChars === b.textChars;

async function replaceAnswer(db: CrawlDb, host: string, nothing: MissingPage): Promise<void> {
  const [row] = await db.hostRows([host]);
  if (row !== undefined) await db.write({ hostFacts: [{ host, facts: { ...row.facts, nothing } }] }, { durable: true });
}
