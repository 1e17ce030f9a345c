import {
  definePlugin,
  type ExportDocument,
  type ExportSink,
  type ExportTarget,
  filePathOf,
  isFolder,
  openFileTree,
} from 'incrawl/plugin';

const FIELDS = [
  'url',
  'title',
  'authors',
  'publishedAt',
  'modifiedAt',
  'description',
  'keywords',
  'topics',
  'siteName',
  'image',
  'textSource',
  'pageNumber',
  'nextPage',
  'lang',
  'fetchedAt',
  'changedAt',
] as const satisfies readonly (keyof ExportDocument)[];

/** Front matter in YAML; a JSON string or list is valid YAML. */
function frontMatter(fields: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(fields).map(([name, value]) =>
    value === null || (Array.isArray(value) && value.length === 0) ? '' : `${name}: ${JSON.stringify(value)}\n`,
  );
  return `---\n${lines.join('')}---\n`;
}

export default definePlugin({
  name: 'exporter-markdown',
  api: 1,
  setup: () => {
    const pageOf = (document: ExportDocument, markdown: string): string =>
      `${frontMatter(Object.fromEntries(FIELDS.map((name) => [name, document[name]])))}\n${markdown}`;

    async function inFolder(folder: string, { isIncremental, partial }: ExportTarget): Promise<ExportSink> {
      const tree = await openFileTree(folder, isIncremental, partial);
      return {
        async document(document, content) {
          const markdown = await content.markdown();
          const { url, title } = document;
          if (markdown !== null) await tree.put(filePathOf(url, 'md'), pageOf(document, markdown), { url, title });
          else await tree.remove(filePathOf(url, 'md'), url);
        },
        removed: ({ url }) => tree.remove(filePathOf(url, 'md'), url),
        close: () => tree.close(),
        abandon: () => tree.abandon(),
      };
    }

    return {
      format: 'markdown',
      fileExtension: 'md',
      open: async (target) => {
        const { place, write } = target;
        if (place !== null && (await isFolder(place))) return inFolder(place, target);
        await write('');
        return {
          async document(document, content) {
            const markdown = await content.markdown();
            if (markdown !== null) await write(`${pageOf(document, markdown)}\n`);
          },
          removed: ({ url, state }) => write(`${frontMatter({ url, deleted: true, state })}\n`),
          close: () => {},
        };
      },
    };
  },
});
