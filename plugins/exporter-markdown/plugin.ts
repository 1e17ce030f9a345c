import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  definePlugin,
  type ExportDocument,
  type ExportSink,
  type ExportTarget,
  filePathOf,
  isFolder,
  openFileTree,
} from 'incrawl/plugin';
import { linkedToFiles, linkedUrls } from './page-links.ts';

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

const fileOf = (url: string): string => filePathOf(url, 'md', 'appended');

/** Makes links to pages with a file in the folder lead to that file: which ones exist is known once all are written. */
async function linkToFiles(folder: string, file: string, partial: ExportTarget['partial']): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  const files = new Map<string, string>();
  for (const url of linkedUrls(text)) {
    const target = fileAt(url);
    if (target !== null && (await isThere(join(folder, target)))) files.set(url, target);
  }
  const linked = linkedToFiles(text, file, (url) => files.get(url) ?? null);
  if (linked === text) return;
  await writeFile(partial(path), linked);
  await rename(partial(path), path);
}

function fileAt(url: string): string | null {
  try {
    return fileOf(new URL(url).href);
  } catch {
    return null;
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export default definePlugin({
  name: 'exporter-markdown',
  api: 1,
  setup: () => {
    const pageOf = (document: ExportDocument, markdown: string): string =>
      `${frontMatter(Object.fromEntries(FIELDS.map((name) => [name, document[name]])))}\n${markdown}`;

    async function inFolder(folder: string, { isIncremental, partial }: ExportTarget): Promise<ExportSink> {
      const tree = await openFileTree(folder, isIncremental, partial);
      const written = new Set<string>();
      const remove = (url: string): Promise<void> => {
        written.delete(fileOf(url));
        return tree.remove(fileOf(url), url);
      };
      return {
        async document(document, content) {
          const markdown = await content.markdown();
          const { url, title } = document;
          const file = fileOf(url);
          if (markdown === null) await remove(url);
          else {
            await tree.put(file, pageOf(document, markdown), { url, title });
            written.add(file);
          }
        },
        removed: ({ url }) => remove(url),
        async close() {
          for (const file of written) await linkToFiles(folder, file, partial);
          await tree.close();
        },
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
