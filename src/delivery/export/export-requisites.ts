import type { ExportSink } from '../../core/plugin-host/api/exporter-api.ts';
import {
  NeededRequisites,
  type StoredRequisites,
  storedRequisites,
} from '../../operations/requisites/stored-requisites.ts';
import type { ContentReader } from './export-target.ts';

/** When an export ends early: with the reason of the signal, or once the reader of its output is gone. */
interface ExportEnd {
  readonly signal?: AbortSignal;
  readonly isClosed?: () => boolean;
}

/** The requisites of exported pages, for exporters that take them. */
export interface RequisitesExport {
  /** Called with each exported page. */
  note(url: string): Promise<void>;
  /** Passes on what the noted pages need; resolves with the number of requisites. */
  deliver(until: ExportEnd): Promise<number>;
}

/** @param stored `null`: the crawl has none, or none are wanted */
export function requisitesExport(
  stored: StoredRequisites | null,
  sink: ExportSink,
  contents: ContentReader,
): RequisitesExport {
  if (stored === null || sink.requisite === undefined) return NONE;
  const needed = new NeededRequisites(stored.db);
  return {
    note: (url) => needed.addOf(url),
    async deliver({ signal, isClosed }) {
      let count = 0;
      for await (const requisite of storedRequisites(stored, (url) => needed.has(url))) {
        signal?.throwIfAborted();
        if (isClosed?.()) break;
        const { url, outcome } = requisite.fetched;
        const content = contents(requisite);
        const isBody = outcome.kind === 'success';
        await sink.requisite?.(
          {
            url,
            status: (await content.response())?.status ?? 0,
            contentType: isBody ? outcome.contentType : null,
            digest: isBody ? outcome.digest : null,
          },
          content,
        );
        count++;
      }
      return count;
    },
  };
}

const NONE: RequisitesExport = { note: async () => {}, deliver: async () => 0 };
