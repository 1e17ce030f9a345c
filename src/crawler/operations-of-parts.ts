import type { ReparseOperations } from '../care/reparse/reparse-operations.ts';
import type { CareOperations } from '../care/state/care-operations.ts';
import type { TransferOperations } from '../care/transfer/transfer-operations.ts';
import type { ExportOperations } from '../delivery/export/export-operations.ts';
import type { MirrorOperations } from '../delivery/mirror/mirror-operations.ts';
import type { CrawlDeps, QueryDb } from '../operations/deps.ts';
import type { DedupOperations } from '../published/dedup/dedup-operations.ts';
import type { BatchOperations } from '../published/map-reduce/batch-operations.ts';
import type { LinkOperations } from '../published/map-reduce/link-operations.ts';
import type { SegmentOperations } from '../query/pages/segment-operations.ts';
import type { StoredCopyOperations } from '../query/pages/stored-copy.ts';
import { loadedLater } from './loaded-later.ts';

type OperationsOfParts = ReparseOperations &
  CareOperations &
  TransferOperations &
  ExportOperations &
  MirrorOperations &
  DedupOperations &
  BatchOperations &
  LinkOperations &
  SegmentOperations &
  StoredCopyOperations;

/** The operations of an open crawl outside the loop, by part. Each part is loaded at its first use. */
export function operationsOfParts(deps: CrawlDeps & { asked(): QueryDb }): OperationsOfParts {
  return {
    ...loadedLater<ReparseOperations>({ reparse: 'promise' }, async () =>
      (await import('../care/reparse/reparse-operations.ts')).reparseOperations(deps),
    ),
    ...loadedLater<CareOperations>({ pruneSegments: 'promise' }, async () =>
      (await import('../care/state/care-operations.ts')).careOperations(deps),
    ),
    ...loadedLater<TransferOperations>(
      { exportDb: 'iterable', importDb: 'promise', merge: 'promise', repartition: 'promise' },
      async () => (await import('../care/transfer/transfer-operations.ts')).transferOperations(deps),
    ),
    ...loadedLater<ExportOperations>({ export: 'promise' }, async () =>
      (await import('../delivery/export/export-operations.ts')).exportOperations(deps),
    ),
    ...loadedLater<MirrorOperations>({ mirror: 'promise' }, async () =>
      (await import('../delivery/mirror/mirror-operations.ts')).mirrorOperations(deps),
    ),
    ...loadedLater<DedupOperations>({ dedup: 'promise', applyPairs: 'promise', undoDedup: 'promise' }, async () =>
      (await import('../published/dedup/dedup-operations.ts')).dedupOperations(deps),
    ),
    ...loadedLater<BatchOperations>({ exportLinks: 'promise', exportSignatures: 'promise' }, async () =>
      (await import('../published/map-reduce/batch-operations.ts')).batchOperations(deps),
    ),
    ...loadedLater<LinkOperations>(
      {
        linkClusters: 'iterable',
        applyLinkClusters: 'promise',
        undoLinkClusters: 'promise',
        linkFamilies: 'iterable',
      },
      async () => (await import('../published/map-reduce/link-operations.ts')).linkOperations(deps),
    ),
    ...loadedLater<SegmentOperations>(
      {
        segments: 'promise',
        segmentRecord: 'promise',
        segmentRecords: 'iterable',
        versions: 'promise',
        storedBody: 'promise',
        screenshot: 'promise',
        diff: 'promise',
      },
      async () => (await import('../query/pages/segment-operations.ts')).segmentOperations(deps),
    ),
    ...loadedLater<StoredCopyOperations>({ storedCopy: 'promise', storedRequisite: 'promise' }, async () =>
      (await import('../query/pages/stored-copy.ts')).storedCopyOperations(deps),
    ),
  };
}
