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

/** By the type alone: it is known of pages that are gone, too. */
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
    open: async ({ place, isIncremental }) => {
      if (place === null) throw new TypeError('a folder is needed');
      const tree = await openFileTree(place, isIncremental);
      return {
        async document({ url, title, contentType, fetchedAt, changedAt }, content) {
          const response = await content.response();
          if (response === null) return;
          const entry = { url, title, contentType, fetchedAt, changedAt };
          await tree.put(filePathOf(url, endingOf(contentType)), await response.body(), entry);
        },
        removed: ({ url, contentType }) => tree.remove(filePathOf(url, endingOf(contentType)), url),
        close: () => tree.close(),
        abandon: () => tree.abandon(),
      };
    },
  }),
});
