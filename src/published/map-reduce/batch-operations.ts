import type { DedupOptions } from '../../core/steps/update/dedup.ts';
import { counted } from '../../core/steps/work-meter.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { fetchedUrls } from '../dedup/dedup-operations.ts';
import { type BatchExport, type BatchPlace, exportBatch } from './batch-export.ts';
import { clusterLines } from './link-operations.ts';
import { signatureLines } from './signature-lines.ts';

/** Input of the jobs that run on a cluster. */
export interface BatchOperations {
  /** Outlinks of all parsed pages, and what visited pages brought, as input of the job `linkclusters`. */
  exportLinks(place: BatchPlace): Promise<BatchExport>;
  /** Signatures of all pages that `dedup` compares, as input of the jobs `dedup` and `dedup-incoming`. */
  exportSignatures(place: BatchPlace, request: SignatureRequest): Promise<BatchExport>;
}

/** Omitted options are taken from the configuration. */
export interface SignatureRequest extends Partial<Pick<DedupOptions, 'scope' | 'minChars'>> {
  /** A segment whose pages are the query set, for `dedup-incoming`. */
  readonly incoming?: string;
}

export function batchOperations({
  config,
  runtime: { onWork },
  segments,
  store,
}: Pick<CrawlDeps, 'config' | 'runtime' | 'segments' | 'store'>): BatchOperations {
  return {
    exportLinks: (place) => exportBatch('links', place, counted(clusterLines(segments), onWork, 'reading outlinks')),
    async exportSignatures(place, { incoming: segment, ...request }) {
      const { scope, minChars } = config.dedup;
      const incoming = segment === undefined ? {} : { incoming: await fetchedUrls(segments, segment) };
      const read = signatureLines(store().db, { scope, minChars, ...request, ...incoming }, onWork);
      const query = segment === undefined ? undefined : read.query;
      const summary = await exportBatch('signatures', place, read.lines, query);
      return { ...summary, short: read.short };
    },
  };
}
