import type { Exporter, ExportSink, ExportTarget } from './exporter-api.ts';

/** Begins an export with an exporter of either form. */
export async function openSink(exporter: Exporter, target: ExportTarget): Promise<ExportSink> {
  if ('open' in exporter) return exporter.open(target);
  const write = async (text: string | undefined): Promise<void> => {
    if (text !== undefined && text !== '') await target.write(text);
  };
  // Even of nothing: an export without pages leaves an empty file, not the one of last time.
  await target.write(exporter.begin?.() ?? '');
  return {
    document: (document) => write(exporter.document(document)),
    removed: (page) => write(exporter.removed?.(page)),
    close: () => write(exporter.end?.()),
  };
}
