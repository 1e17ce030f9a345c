/** The programming interface: opens a crawl on a state directory and runs its steps. With `src/crawler/`, all that knows every room. */
export type { Config } from './config/schema.ts';
export { type BackupSummary, backupState, checkBackup, restoreState } from './crawler/backup.ts';
export type { ChangesQuery, ChangeView, FeedView } from './crawler/changes.ts';
export { type Checker, openChecker, type ParseCheck, type SitemapCheck, type UrlCheck } from './crawler/checker.ts';
export type { TransferSummary } from './crawler/db-transfer.ts';
export { openDryRun, openSnapshot } from './crawler/dry-run.ts';
export { examinePlugin, type PluginExam } from './crawler/examine-plugin.ts';
export type { ExportOutlet, ExportQuery, ExportSummary } from './crawler/export/export-pages.ts';
export { MAP_REDUCE_JOBS } from './crawler/map-reduce/jobs.ts';
export type { MergeSummary } from './crawler/merge-states.ts';
export { openCrawler } from './crawler/open-crawler.ts';
export type { DiffedVersion, PageDiff, PageVersion, VersionChoice } from './crawler/page-diff.ts';
export type { PruneSummary, SegmentVerdict } from './crawler/prune-segments.ts';
export type { RepartitionSummary } from './crawler/repartition.ts';
export { type RoundEntry, type RoundSample, type RoundSums, roundLog } from './crawler/round-log.ts';
export type { SeenView } from './crawler/seen.ts';
export {
  type SkippedQuery,
  type SkippedSummary,
  type SkippedUrl,
  skippedSummary,
  skippedUrls,
} from './crawler/skip-report.ts';
export {
  type RepairSummary,
  repairState,
  type StateCareOptions,
  type VerifySummary,
  verifyState,
} from './crawler/state-care.ts';
export type { StoredBody } from './crawler/stored-body.ts';
export type * from './crawler/types.ts';
export type { ChangeKind } from './domain/crawl/change/page-change.ts';
export type { CrawlState } from './domain/crawl/states/datum.ts';
export type { SkipReason } from './domain/crawl/states/skip-reasons.ts';
export { CrawlError, type ErrorCode } from './domain/errors.ts';
export { scaffoldPlugin } from './plugin-host/loading/scaffold.ts';
export { makeFolder } from './plugin-host/make-folder.ts';
export type { FailureKind } from './steps/failures.ts';
export type { HostSitemaps, SitemapReport } from './steps/fetch/sitemaps.ts';
export type { GenerateOptions } from './steps/generate/generate.ts';
export type { SeedSource } from './steps/inject.ts';
export type { Explanation } from './steps/inspect/explain.ts';
export type { QueryReport, RecordQuery } from './steps/inspect/find-records.ts';
export type { Grouping, GroupView } from './steps/inspect/host-groups.ts';
export type { NearPage } from './steps/inspect/near-pages.ts';
export type { PlanSummary } from './steps/inspect/plan.ts';
export type { RecordRow } from './steps/inspect/record-columns.ts';
export type { ReplayTotals, SimulateSummary } from './steps/inspect/simulate.ts';
export type { DbStats } from './steps/inspect/stats.ts';
export type * from './steps/inspect/views.ts';
export type { RetryQuery, RetrySummary } from './steps/retry.ts';
export type * from './steps/summaries.ts';
export type { TouchSummary } from './steps/touch.ts';
export type { DedupSummary, DuplicateView } from './steps/update/dedup.ts';
