import { isMissingPageUrl, type MissingPage, missingPageOf } from '../../core/domain/crawl/states/soft-404.ts';
import type { Expression } from '../../core/domain/query/expression.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import { decodeParsed } from '../../core/plugin-host/parsing/encode-parsed.ts';
import type { CrawlDb, HostRow } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import { NO_SKIP_SINK } from '../../core/steps/counters/outcome-counts.ts';
import { hasStoredPage, type ParseDeps, type StoredRecord } from '../../core/steps/fetch/parse.ts';
import { findRecords, type RecordQuery } from '../../core/steps/records/find-records.ts';
import { rejudge, UNJUDGED_KEY } from '../../core/steps/update/reparse-chunk.ts';
import { changedPages, type Since } from '../../delivery/export/changed-pages.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { linkDeps, linkOptions, reachedLayers } from '../../operations/loop/readmitting.ts';
import { unappliedSegments } from '../../operations/loop/segment-steps.ts';
import { repeatDeps, repeatOptions } from '../../operations/loop/step-settings.ts';
import { sweepWhenDue } from '../../operations/loop/update-round.ts';
import { pageMatches } from '../../operations/state/page-matches.ts';
import { storedPages } from '../../operations/state/stored-pages.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { parseAhead, ReparseBatches, readStored } from './reparse-batches.ts';
import { type ReparseSummary, ReparseTally } from './reparse-summary.ts';

type ReparsePagesDeps = Omit<CrawlDeps, 'web'>;

const EXAMPLES = 10;

/** Parses stored pages again, newest segment first, applies differences, and judges duplicates at the end. */
export async function reparsePages(
  deps: ReparsePagesDeps,
  query: ReparseQuery,
  signal?: AbortSignal,
): Promise<ReparseSummary> {
  const { segments } = deps;
  const { onWork } = deps.runtime;
  const { db, saveSeenStats } = deps.store();
  const { dryRun = false, examples = EXAMPLES } = query;
  const wasUnjudged = (await db.meta(UNJUDGED_KEY)) === 'yes';
  // A segment that updatedb has not applied holds the content of no record yet.
  const without = new Set(await unappliedSegments(db));
  const selection = await selectPages(deps, query);
  const tally = new ReparseTally(examples);
  const batches = await batchesOf(deps, tally, dryRun);
  const parse = { parser: deps.pages.parser(), undoContentCoding: deps.pages.undoContentCoding };
  const present = { expected: 0, gone: 0 };
  try {
    const stored = storedPages({ db, segments }, () => true, { without, hasUrl: (url) => selection.urls.has(url) });
    for await (const again of parseAhead(parse, stored)) {
      present[again.page.datum.state === 'gone' ? 'gone' : 'expected']++;
      await batches.add(again);
      onWork({ work: 'parsing stored pages', done: tally.done, total: selection.expected });
      if (signal?.aborted) break;
    }
    await batches.finish();
  } finally {
    await batches.close();
  }
  const isCutShort = signal?.aborted ?? false;
  const judged = isCutShort ? NONE : await judgeResigned(deps, wasUnjudged ? 'all' : batches.resigned);
  const missingPages = isCutShort ? 0 : await reparseMissingPages({ db, segments, parse }, query.host, without);
  const { orphans } = isCutShort ? { orphans: 0 } : await sweepWhenDue(deps, undefined);
  await saveSeenStats();
  return {
    dryRun,
    selected: selection.expected + present.gone,
    ...tally.summary(),
    notStored: isCutShort ? 0 : selection.expected - present.expected,
    duplicates: judged,
    missingPages,
    orphans,
    isCutShort,
  };
}

async function batchesOf(deps: ReparsePagesDeps, tally: ReparseTally, dryRun: boolean): Promise<ReparseBatches> {
  const { config, plugins, runtime, segments } = deps;
  const { db } = deps.store();
  const links = { ...linkDeps(deps, NO_SKIP_SINK), filteredBy: {}, demotedBy: {} };
  return new ReparseBatches(
    { db, clock: runtime.clock, links, segments, tally },
    {
      ...linkOptions(config, await reachedLayers(deps)),
      additions: config.updatedb.additions,
      initialIntervalMs: plugins.policy.schedule.initialIntervalMs,
      skipOutlinks: config.dedup.mode === 'skip-outlinks',
      isJudged: db.fingerprints !== null,
      chunk: config.updatedb.chunk,
      dryRun,
    },
  );
}

const NONE: ReparseSummary['duplicates'] = { marked: 0, restored: 0 };

/** @param resigned the pages with new signatures; `all`: an interrupted earlier run may have left some unjudged */
async function judgeResigned(
  { config, runtime: { clock, onWork }, store }: Pick<ReparsePagesDeps, 'config' | 'runtime' | 'store'>,
  resigned: UrlSet | 'all',
): Promise<ReparseSummary['duplicates']> {
  const { db } = store();
  const near = repeatDeps(config, db);
  if (near === null || (resigned !== 'all' && resigned.size === 0)) return NONE;
  const isMeant = (url: string): boolean => resigned === 'all' || resigned.has(url);
  const { keep: _, ...rule } = repeatOptions(config);
  const options = { ...rule, skipOutlinks: config.dedup.mode === 'skip-outlinks', chunk: config.updatedb.chunk };
  return rejudge({ db, clock, near, onWork }, isMeant, options);
}

export interface ReparseOperations {
  /**
   * Parses the stored responses of pages with the current plugins and options, and applies the differences: records,
   * links, stored parse output, duplicates. No visit is counted, and no schedule learns from it. A second run finds no
   * difference; after an interrupted run, it continues with what is missing.
   */
  reparse(query?: ReparseQuery, options?: { readonly signal?: AbortSignal }): Promise<ReparseSummary>;
}

export function reparseOperations(deps: CrawlDeps): ReparseOperations {
  return { reparse: (query = {}, { signal } = {}) => reparsePages(deps, query, signal) };
}

interface MissingPageDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly parse: ParseDeps;
}

/**
 * Parses the stored answers of hosts to impossible addresses again: the next visits compare pages with them. Resolves
 * with the number of answers that differ.
 * @param without segments that are left out
 */
async function reparseMissingPages(
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

/** Conditions on the pages to parse again; a page must meet all of them. */
export interface ReparseQuery extends Pick<RecordQuery, 'host' | 'where'> {
  /** Only pages that changed since then. */
  readonly since?: Since;
  /**
   * Only reports what would differ: no parse output is stored. The caller provides a copy of the crawl db to write to.
   */
  readonly dryRun?: boolean;
  /** Maximum number of pages described in the summary. Default: 10. */
  readonly examples?: number;
}

interface Selection {
  /** Known pages that have had content in this crawl. */
  readonly urls: UrlSet;
  /** Those whose content should exist: pages that are gone lose theirs. */
  readonly expected: number;
}

/** The pages that meet the conditions before anything is changed; a few bytes for each are kept. */
async function selectPages(
  { runtime, store, segments }: Pick<CrawlDeps, 'runtime' | 'store' | 'segments'>,
  { host, where, since }: ReparseQuery,
): Promise<Selection> {
  const { clock, random, onWork } = runtime;
  const { db } = store();
  const changed = since === undefined ? null : await changedPages(db, since);
  const query = { ...(host === undefined ? {} : { host }), ...(where === undefined ? {} : { where }) };
  const env = { now: clock.now(), domainOf };
  const matchesOf = (expression: Expression) => pageMatches([{ db, segments }], expression, env);
  const found = findRecords({ ...env, db, random, onWork, matchesOf }, query);
  const urls = new UrlSet();
  let expected = 0;
  for await (const datum of found) {
    if (datum.digest === null || changed?.has(datum) === false) continue;
    urls.add(datum.url);
    if (datum.state !== 'gone') expected++;
  }
  return { urls, expected };
}
