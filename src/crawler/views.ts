/** Types of answers and options for code that displays or asks; not part of the programming interface. */

export type { ReparseSummary } from '../care/reparse/reparse-summary.ts';
export type { PruneSummary, SegmentVerdict } from '../care/state/care-operations.ts';
export type { ClockRepairSummary } from '../care/state/repair-clock.ts';
export type { TransferSummary } from '../care/transfer/db-transfer.ts';
export type { SplitPartition } from '../care/transfer/split-partition.ts';
export type { MergeSummary, RepartitionSummary } from '../care/transfer/transfer-operations.ts';
export type { MovedPartition, PartitionView } from '../cluster/servers/partition-operations.ts';
export type { WorkersWatch } from '../cluster/workers/open-workers.ts';
export type { Worker } from '../cluster/workers/work-off.ts';
export type { WatchedPartition, WorkersView, WorkerView } from '../cluster/workers/workers-view.ts';
export type { DomainFamilies } from '../core/domain/url/families/stored-families.ts';
export type { RetrySummary, TouchSummary } from '../core/steps/bring-forward.ts';
export type { FailureKind, RoundHosts } from '../core/steps/counters/round-counts.ts';
export type { BudgetView } from '../core/steps/facts/fetch-budget.ts';
export type { HostSitemaps, SitemapReport } from '../core/steps/fetch/sitemaps/read-sitemaps.ts';
export type { QueryReport } from '../core/steps/records/find-records.ts';
export type { RequisitesSummary, RoundCounts } from '../core/steps/round-summary.ts';
export type {
  FetchSummary,
  GenerateSummary,
  InjectSummary,
  NextDue,
  ParseSummary,
  ReadmitSummary,
  SeedError,
  SeedsSummary,
  StoppedBy,
  UpdateSummary,
} from '../core/steps/summaries.ts';
export type { DedupSummary, DuplicateView } from '../core/steps/update/dedup.ts';
export type { FieldDifference, PageDifference } from '../core/steps/update/reparse-differences.ts';
export type { ChangesFilter, FeedView } from '../delivery/changes/changes.ts';
export type { MirrorSummary } from '../delivery/mirror/mirror-operations.ts';
export type { CookieImport, CookieRow } from '../operations/cookies/cookie-operations.ts';
export type { PackageInstall, PackageView } from '../operations/packages/packages.ts';
export type { PluginExam, PluginView } from '../operations/plugins/plugin-views.ts';
export type { PastRound, RoundEntry, RoundHistory, RoundSample } from '../operations/reports/round-log.ts';
export type { SkippedSummary, SkippedUrl } from '../operations/reports/skip-report.ts';
export type { CommandAnswer, CommandName, Steering } from '../operations/steer/steering.ts';
export type { BatchLines } from '../published/dedup/batch-pairs.ts';
export type { AppliedPairs } from '../published/dedup/dedup-operations.ts';
export type { BatchExport, SignatureRequest } from '../published/map-reduce/batch-operations.ts';
export type { AppliedFamilies, UndoneFamilies } from '../published/map-reduce/keep-families.ts';
export type { ExplainedParse, ParseCheck, ParseInput } from '../query/check/checker.ts';
export type { BrokenLinkView, InlinkView } from '../query/pages/inlinks.ts';
export type { PageVersion, VersionChoice } from '../query/pages/page-diff.ts';
export type { SeenView } from '../query/pages/seen-view.ts';
export type { Screenshot } from '../query/pages/stored-body.ts';
export type { Grouping, GroupView } from '../query/records/find-hosts.ts';
export type { StatsView } from '../query/records/like-urls-waiting.ts';
export type { NearPage } from '../query/records/near-pages.ts';
export type { ReplayTotals, SimulateSummary } from '../query/records/simulate.ts';
export type { RecordRow } from '../query/records/views.ts';
