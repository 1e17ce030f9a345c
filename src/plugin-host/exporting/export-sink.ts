import type { Exporter, ExportSink, ExportTarget } from '../api/exporter-api.ts';
import { atOnce } from '../loading/answer-checks.ts';

/** Begins an export with an exporter of either form. */
export async function openSink(exporter: Exporter, target: ExportTarget): Promise<ExportSink> {
  if ('open' in exporter) return exporter.open(target);
  const write = async (method: string, answer: string | undefined): Promise<void> => {
    const text = atOnce(method, answer);
    if (text !== undefined && text !== '') await target.write(text);
  };
  // Even of nothing: an export without pages leaves an empty file, not the one of last time.
  await target.write(atOnce('begin', exporter.begin?.()) ?? '');
  return {
    document: (document) => write('document', exporter.document(document)),
    removed: (page) => write('removed', exporter.removed?.(page)),
    close: () => write('end', exporter.end?.()),
  };
}
