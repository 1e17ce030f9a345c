import type { UrlSet } from '../../core/domain/url/hash/url-set.ts';
import { NO_SKIP_SINK } from '../../core/steps/counters/outcome-counts.ts';
import { rejudge, UNJUDGED_KEY } from '../../core/steps/update/rejudge.ts';
import { repeatDeps, repeatOptions } from '../../operations/dedup/dedup-settings.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { linkDeps, linkOptions, reachedLayers } from '../../operations/loop/readmitting.ts';
import { unappliedSegments } from '../../operations/loop/unfinished.ts';
import { sweepWhenDue } from '../../operations/loop/update-round.ts';
import { storedPages } from '../../operations/state/stored-pages.ts';
import { reparseMissingPages } from './missing-pages.ts';
import { parseAhead } from './parse-ahead.ts';
import { ReparseBatches } from './reparse-batches.ts';
import { type ReparseSummary, ReparseTally } from './reparse-summary.ts';
import { type ReparseQuery, selectPages } from './selection.ts';

type ReparsePagesDeps = Omit<CrawlDeps, 'web'>;

const EXAMPLES = 10;

/** Parses stored pages anew, newest segment first, applies what differs, and judges duplicates at the end. */
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
  // What updatedb has not applied is the content of no record yet.
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

/** @param resigned the pages with other signatures; `all`: an earlier run that did not come to it may have left some */
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
