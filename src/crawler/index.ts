/** The programming interface: opens a crawl on a state directory and runs its operations. */

export type { ReparseSummary } from '../care/reparse/reparse-summary.ts';
export type { ReparseQuery } from '../care/reparse/selection.ts';
export { type BackupSummary, backupState, checkBackup, restoreState } from '../care/state/backup.ts';
export type { RepairSummary, StateCareOptions, VerifySummary } from '../care/state/care-summaries.ts';
export type { PruneSummary, SegmentVerdict } from '../care/state/prune-segments.ts';
export { type ClockRepairSummary, repairClock } from '../care/state/repair-clock.ts';
export { repairState, verifyState } from '../care/state/state-care.ts';
export type { TransferSummary } from '../care/transfer/db-transfer.ts';
export type { MergeSummary } from '../care/transfer/merge-states.ts';
export type { RepartitionSummary } from '../care/transfer/repartition.ts';
export type { ImportSummary } from '../care/transfer/transfer-operations.ts';
export { folderOfPage } from '../cluster/partitions/partition-dir.ts';
export {
  type MovedPartition,
  movePartitionTo,
  type PartitionView,
  partitionViews,
} from '../cluster/servers/partition-operations.ts';
export { openWorkers, type WorkersWatch } from '../cluster/workers/open-workers.ts';
export type { Worker } from '../cluster/workers/work-off.ts';
export {
  livingOf,
  type WatchedPartition,
  type WorkersView,
  type WorkerView,
} from '../cluster/workers/workers-view.ts';
export type { Config } from '../core/config/schema.ts';
export type { ChangeKind } from '../core/domain/crawl/change/page-change.ts';
export type { CrawlState } from '../core/domain/crawl/states/datum.ts';
export type { SkipReason } from '../core/domain/crawl/states/skip-reasons.ts';
export { CrawlError, type ErrorCode } from '../core/domain/errors.ts';
export type { DomainFamilies } from '../core/domain/url/families/stored-families.ts';
export {
  type CookieImport,
  type CookieRow,
  plannedImport,
  storedCookies,
} from '../core/operations/cookies/cookie-operations.ts';
export type { CrawlOptions } from '../core/operations/loop/crawl-operations.ts';
export type { FetchStepOptions, ParseStepOptions } from '../core/operations/loop/step-operations.ts';
export type { UpdateStepOptions } from '../core/operations/loop/update-round.ts';
export { installPackage, type PackageInstall, plannedInstall } from '../core/operations/packages/install-package.ts';
export { type PackageView, packageViews } from '../core/operations/packages/package-views.ts';
export type { PluginView } from '../core/operations/plugins/plugin-views.ts';
export { examinePlugin, type PluginExam } from '../core/operations/plugins/plugin-views.ts';
export {
  type PastHosts,
  type PastRound,
  type RoundEntry,
  type RoundHistory,
  type RoundSample,
  type RoundSums,
  recentHosts,
  roundHistory,
  roundLog,
} from '../core/operations/reports/round-log.ts';
export {
  type SkippedQuery,
  type SkippedSummary,
  type SkippedUrl,
  skippedSummary,
  skippedUrls,
} from '../core/operations/reports/skip-report.ts';
export type {
  CommandAnswer,
  CommandName,
  SteeredCrawler,
  Steering,
  SteerOperations,
} from '../core/operations/steer/steering.ts';
export { scaffoldPlugin } from '../core/plugin-host/loading/scaffold.ts';
export { makeFolder } from '../core/plugin-host/make-folder.ts';
export type { Clock } from '../core/ports/clock.ts';
export type { OnWork, WorkProgress } from '../core/ports/work-progress.ts';
export type { RetryQuery, RetrySummary, TouchQuery, TouchSummary } from '../core/steps/bring-forward.ts';
export type { FailureKind } from '../core/steps/counters/failures.ts';
export type { RoundHosts } from '../core/steps/counters/round-hosts.ts';
export type { BudgetView } from '../core/steps/facts/fetch-budget.ts';
export type { HostSitemaps, SitemapReport } from '../core/steps/fetch/sitemaps/read-sitemaps.ts';
export type { GenerateOptions } from '../core/steps/generate/generate.ts';
export type { SeedSource } from '../core/steps/inject.ts';
export type { QueryReport, RecordQuery } from '../core/steps/records/find-records.ts';
export type { DbStats } from '../core/steps/records/stats.ts';
export type { CrawlSummary, RoundCounts, RoundSummary } from '../core/steps/round-summary.ts';
export type * from '../core/steps/summaries.ts';
export type { DedupSummary, DuplicateView } from '../core/steps/update/dedup.ts';
export type { FieldDifference, PageDifference } from '../core/steps/update/reparse-differences.ts';
export type { ChangesFilter, ChangesQuery, ChangeView, FeedView } from '../delivery/changes/changes.ts';
export type { ExportOutlet, ExportQuery, ExportSummary } from '../delivery/export/export-pages.ts';
export type { BatchLines } from '../published/dedup/batch-pairs.ts';
export type { AppliedPairs, DedupRequest } from '../published/dedup/dedup-operations.ts';
export type { BatchExport } from '../published/map-reduce/batch-export.ts';
export type { SignatureRequest } from '../published/map-reduce/batch-operations.ts';
export type { AppliedFamilies, UndoneFamilies } from '../published/map-reduce/keep-families.ts';
export { streamingStep } from '../published/map-reduce/streaming-step.ts';
export type { ParseCheck, SitemapCheck, UrlCheck } from '../query/check/check-results.ts';
export type { Checker, ExplainedParse, ParseInput } from '../query/check/checker.ts';
export type { BrokenLinkView, InlinkView } from '../query/pages/inlinks.ts';
export type { DiffedVersion, PageDiff, PageVersion, VersionChoice } from '../query/pages/page-diff.ts';
export type { SeenView } from '../query/pages/seen-view.ts';
export type { SegmentRecordView, SegmentView } from '../query/pages/segment-operations.ts';
export type { Screenshot, StoredBody } from '../query/pages/stored-body.ts';
export type { CrawlReader, DueOptions } from '../query/questions.ts';
export type { Explanation } from '../query/records/explain.ts';
export type { Grouping, GroupView } from '../query/records/find-hosts.ts';
export type { StatsView } from '../query/records/like-urls-waiting.ts';
export type { NearPage } from '../query/records/near-pages.ts';
export type { PlanSummary } from '../query/records/plan.ts';
export type { ReplayTotals, SimulateSummary } from '../query/records/simulate.ts';
export type * from '../query/records/views.ts';
export type { RecordRow } from '../query/records/views.ts';
export { roundReports } from '../query/reports/round-reports.ts';
export { openChecker } from './open-checker.ts';
export { openCrawler } from './open-crawler.ts';
export { openReader, type Reader, type ReaderOptions } from './open-reader.ts';
export { openSnapshot } from './open-snapshot.ts';
export type { Crawler, CrawlerOptions } from './types.ts';
