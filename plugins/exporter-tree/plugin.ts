import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_ENDINGS, fileEndingOf } from 'incrawl/bundled';
import { definePlugin, filePathOf, openFileTree } from 'incrawl/plugin';

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
        for (const other of FILE_ENDINGS) {
          if (other !== ending) await rm(join(place, filePathOf(url, other)), { force: true });
        }
      };
      return {
        async document({ url, title, contentType, fetchedAt, changedAt }, content) {
          const response = await content.response();
          if (response === null) return;
          const entry = { url, title, contentType, fetchedAt, changedAt };
          const ending = fileEndingOf(contentType);
          await tree.put(filePathOf(url, ending), await response.body(), entry);
          await removeOthers(url, ending);
        },
        async removed({ url, contentType }) {
          const ending = fileEndingOf(contentType);
          await tree.remove(filePathOf(url, ending), url);
          await removeOthers(url, ending);
        },
        close: () => tree.close(),
        abandon: () => tree.abandon(),
      };
    },
  }),
});
