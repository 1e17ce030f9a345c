import type { Exporter, ExportSink, ExportTarget } from '../api/exporter-api.ts';
import { atOnce } from '../loading/answer-checks.ts';

/** Begins an export with a text exporter or a sink exporter. */
export async function openSink(exporter: Exporter, target: ExportTarget): Promise<ExportSink> {
  if ('open' in exporter) return exporter.open(target);
  const write = async (method: string, answer: string | undefined): Promise<void> => {
    const text = atOnce(method, answer);
    if (text !== undefined && text !== '') await target.write(text);
  };
  // An empty string too: an export without pages must leave an empty file, not the one of the last export.
  await target.write(atOnce('begin', exporter.begin?.()) ?? '');
  return {
    document: (document) => write('document', exporter.document(document)),
    removed: (page) => write('removed', exporter.removed?.(page)),
    close: () => write('end', exporter.end?.()),
  };
}
