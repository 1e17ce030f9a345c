import { basename, join } from 'node:path';
import { addToArchive, inFolder, inStream, openCdxIndex, type WarcFiles } from 'incrawl/bundled';
import { definePlugin, type ExportTarget, isFolder } from 'incrawl/plugin';
import { z } from 'zod';

const GIGABYTE = 1_000_000_000;

const options = z.strictObject({
  maxFileBytes: z
    .number()
    .int()
    .min(1)
    .default(GIGABYTE)
    .describe('In a folder: size at which a file is closed and the next one begun, bytes.'),
});

export default definePlugin<'exporter', z.infer<typeof options>>({
  name: 'exporter-warc',
  api: 1,
  options,
  setup: (host, { maxFileBytes }) => ({
    format: 'warc',
    fileExtension: 'warc.gz',
    open: async (target) => {
      const { files, index } = await begin(target, host.now(), maxFileBytes);
      return {
        async document(document, content) {
          await addToArchive(files, index, document, content);
        },
        async requisite(requisite, content) {
          await addToArchive(files, index, requisite, content);
        },
        // An archive records what was there: removed pages stay in it.
        removed: () => {},
        async close() {
          await files.close();
          await index?.close();
        },
        async abandon() {
          await files.abandon();
          await index?.abandon();
        },
      };
    },
  }),
});

async function begin(
  target: ExportTarget,
  at: number,
  maxBytes: number,
): Promise<{ files: WarcFiles; index: Awaited<ReturnType<typeof openCdxIndex>> | null }> {
  const { place, software, crawl, write, partial } = target;
  const written = { software, crawl, at };
  if (place === null) return { files: await inStream(write, 'stdout.warc.gz', written), index: null };
  if (await isFolder(place)) {
    const name = `incrawl-${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}`;
    const files = await inFolder(place, written, { name, maxBytes, partial });
    return { files, index: await openCdxIndex(join(place, `${name}.cdxj`), target) };
  }
  const files = await inStream(write, basename(place), written);
  return { files, index: await openCdxIndex(`${place.replace(/\.warc(?:\.gz)?$/i, '')}.cdxj`, target) };
}
