// src/: the program: its programming interface, and the folders that src/ARCHITECTURE.md draws.
/** The programming interface: opens a crawl on a state directory and runs its operations. */
export type { Config } from './config/schema.ts';
export { openChecker } from './crawler/open-checker.ts';
export { openCrawler } from './crawler/open-crawler.ts';
export { openReader, type Reader, type ReaderOptions } from './crawler/open-reader.ts';
export { openSnapshot } from './crawler/open-snapshot.ts';
export type { Crawler, CrawlerOptions } from './crawler/types.ts';
export type { ChangeKind } from './domain/crawl/change/page-change.ts';
export type { CrawlState } from './domain/crawl/states/datum.ts';
export type { SkipReason } from './domain/crawl/states/skip-reasons.ts';
export { CrawlError, type ErrorCode } from './domain/errors.ts';
export type { DomainFamilies } from './domain/url/families/stored-families.ts';
export { type BackupSummary, backupState, checkBackup, restoreState } from './operations/care/backup.ts';
export type { RepairSummary, StateCareOptions, VerifySummary } from './operations/care/care-summaries.ts';
export type { PruneSummary, SegmentVerdict } from './operations/care/prune-segments.ts';
export { type ClockRepairSummary, repairClock } from './operations/care/repair-clock.ts';
export { repairState, verifyState } from './operations/care/state-care.ts';
export type { ChangesFilter, ChangesQuery, ChangeView, FeedView } from './operations/changes/changes.ts';
export type { ParseCheck, SitemapCheck, UrlCheck } from './operations/check/check-results.ts';
export type { Checker, ExplainedParse, ParseInput } from './operations/check/checker.ts';
export { openWorkers, type WorkersWatch } from './operations/cluster/open-workers.ts';
export { folderOfPage } from './operations/cluster/partitions/partition-dir.ts';
export {
  type MovedPartition,
  movePartitionTo,
  type PartitionView,
  partitionViews,
} from './operations/cluster/servers/partition-operations.ts';
export type { Worker } from './operations/cluster/work-off.ts';
export {
  livingOf,
  type WatchedPartition,
  type WorkersView,
  type WorkerView,
} from './operations/cluster/workers-view.ts';
export {
  type CookieImport,
  type CookieRow,
  plannedImport,
  storedCookies,
} from './operations/cookies/cookie-operations.ts';
export type { BatchLines } from './operations/dedup/batch-pairs.ts';
export type { AppliedPairs, DedupRequest } from './operations/dedup/dedup-operations.ts';
export type { ExportOutlet, ExportQuery, ExportSummary } from './operations/export/export-pages.ts';
export type { BrokenLinkView, InlinkView } from './operations/inspect/inlinks.ts';
export type { DiffedVersion, PageDiff, PageVersion, VersionChoice } from './operations/inspect/page-diff.ts';
export type { SeenView } from './operations/inspect/seen-view.ts';
export type { SegmentRecordView, SegmentView } from './operations/inspect/segment-operations.ts';
export type { Screenshot, StoredBody } from './operations/inspect/stored-body.ts';
export type { CrawlOptions } from './operations/loop/crawl-operations.ts';
export type { FetchStepOptions, ParseStepOptions } from './operations/loop/step-operations.ts';
export type { UpdateStepOptions } from './operations/loop/update-round.ts';
export type { BatchExport } from './operations/map-reduce/batch-export.ts';
export type { SignatureRequest } from './operations/map-reduce/batch-operations.ts';
export type { AppliedFamilies, UndoneFamilies } from './operations/map-reduce/keep-families.ts';
export { streamingStep } from './operations/map-reduce/streaming-step.ts';
export { installPackage, type PackageInstall, plannedInstall } from './operations/packages/install-package.ts';
export { type PackageView, packageViews } from './operations/packages/package-views.ts';
export type { PluginView } from './operations/plugins/plugin-views.ts';
export { examinePlugin, type PluginExam } from './operations/plugins/plugin-views.ts';
export type { CrawlReader, DueOptions } from './operations/questions.ts';
export type { ReparseSummary } from './operations/reparse/reparse-summary.ts';
export type { ReparseQuery } from './operations/reparse/selection.ts';
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
} from './operations/reports/round-log.ts';
export { roundReports } from './operations/reports/round-reports.ts';
export {
  type SkippedQuery,
  type SkippedSummary,
  type SkippedUrl,
  skippedSummary,
  skippedUrls,
} from './operations/reports/skip-report.ts';
export type {
  CommandAnswer,
  CommandName,
  SteeredCrawler,
  Steering,
  SteerOperations,
} from './operations/steer/steering.ts';
export type { TransferSummary } from './operations/transfer/db-transfer.ts';
export type { MergeSummary } from './operations/transfer/merge-states.ts';
export type { RepartitionSummary } from './operations/transfer/repartition.ts';
export type { ImportSummary } from './operations/transfer/transfer-operations.ts';
export { scaffoldPlugin } from './plugin-host/loading/scaffold.ts';
export { makeFolder } from './plugin-host/make-folder.ts';
export type { Clock } from './ports/clock.ts';
export type { OnWork, WorkProgress } from './ports/work-progress.ts';
export type { RetryQuery, RetrySummary, TouchQuery, TouchSummary } from './steps/bring-forward.ts';
export type { FailureKind } from './steps/counters/failures.ts';
export type { RoundHosts } from './steps/counters/round-hosts.ts';
export type { BudgetView } from './steps/facts/fetch-budget.ts';
export type { HostSitemaps, SitemapReport } from './steps/fetch/sitemaps/read-sitemaps.ts';
export type { GenerateOptions } from './steps/generate/generate.ts';
export type { SeedSource } from './steps/inject.ts';
export type { Explanation } from './steps/inspect/explain.ts';
export type { Grouping, GroupView } from './steps/inspect/find-hosts.ts';
export type { QueryReport, RecordQuery } from './steps/inspect/find-records.ts';
export type { StatsView } from './steps/inspect/like-urls-waiting.ts';
export type { NearPage } from './steps/inspect/near-pages.ts';
export type { PlanSummary } from './steps/inspect/plan.ts';
export type { ReplayTotals, SimulateSummary } from './steps/inspect/simulate.ts';
export type { DbStats } from './steps/inspect/stats.ts';
export type * from './steps/inspect/views.ts';
export type { RecordRow } from './steps/inspect/views.ts';
export type { CrawlSummary, RoundCounts, RoundSummary } from './steps/round-summary.ts';
export type * from './steps/summaries.ts';
export type { DedupSummary, DuplicateView } from './steps/update/dedup.ts';
export type { FieldDifference, PageDifference } from './steps/update/reparse-differences.ts';
