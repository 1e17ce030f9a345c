import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, filePathOf, openFileTree } from 'incrawl/plugin';

const ENDINGS: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'xhtml',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/rss+xml': 'xml',
  'application/atom+xml': 'xml',
  'application/json': 'json',
  'application/ld+json': 'json',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
};

const ALL_ENDINGS: readonly string[] = [...new Set([...Object.values(ENDINGS), 'xml', 'txt', 'bin'])];

/** From only the content type, which is known for removed pages too. */
function endingOf(contentType: string | null): string {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return ENDINGS[type] ?? (type.endsWith('+xml') ? 'xml' : type.startsWith('text/') ? 'txt' : 'bin');
}

export default definePlugin({
  name: 'exporter-tree',
  api: 1,
  setup: () => ({
    format: 'tree',
    fileExtension: '',
    needsPlace: 'a folder',
    open: async ({ place, isIncremental, partial }) => {
      if (place === null) throw new TypeError('a folder is needed');
      const tree = await openFileTree(place, isIncremental, partial);
      /** Also removes files from when the page had other types: no other URL has these paths. */
      const removeOthers = async (url: string, ending: string): Promise<void> => {
        if (!isIncremental) return;
        for (const other of ALL_ENDINGS) {
          if (other !== ending) await rm(join(place, filePathOf(url, other)), { force: true });
        }
      };
      return {
        async document({ url, title, contentType, fetchedAt, changedAt }, content) {
          const response = await content.response();
          if (response === null) return;
          const entry = { url, title, contentType, fetchedAt, changedAt };
          const ending = endingOf(contentType);
          await tree.put(filePathOf(url, ending), await response.body(), entry);
          await removeOthers(url, ending);
        },
        async removed({ url, contentType }) {
          const ending = endingOf(contentType);
          await tree.remove(filePathOf(url, ending), url);
          await removeOthers(url, ending);
        },
        close: () => tree.close(),
        abandon: () => tree.abandon(),
      };
    },
  }),
});
