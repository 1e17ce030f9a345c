import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { addToArchive, inStream, openCdxLines, replaceableFile } from 'incrawl/bundled';
import { definePlugin, type ExportDocument, type ExportSink, type ExportTarget } from 'incrawl/plugin';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { writeZipNum } from './zip-num.ts';

const options = z.strictObject({
  title: z.string().default('').describe('Title of the archive, for people; empty: none.'),
  text: z
    .boolean()
    .default(true)
    .describe('The texts of the pages are in the list of pages, so that they can be searched.'),
});

export default definePlugin<'exporter', z.infer<typeof options>>({
  name: 'exporter-wacz',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'wacz',
    fileExtension: 'wacz',
    needsPlace: 'a file',
    open: (target) => openWacz(target, { ...given, now: host.now() }),
  }),
});

type WaczOptions = z.infer<typeof options> & {
  /** Time of the export, ms since the epoch. */
  readonly now: number;
};

/** Paths within the archive: the folders are those of the specification. */
const WARC = 'data.warc.gz';
const INDEX = 'index.cdx.gz';
const PATHS = {
  warc: `archive/${WARC}`,
  index: `indexes/${INDEX}`,
  blocks: 'indexes/index.idx',
  pages: 'pages/pages.jsonl',
};
type Part = keyof typeof PATHS;

/** The page with which a viewer begins. */
interface MainPage {
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * Writes a web archive as one file, which viewers read in parts: a ZIP file with the responses as WARC, their index,
 * the list of pages, and the digests of all of these (WACZ 1.1.1, https://specs.webrecorder.net/wacz/1.1.1/). The parts
 * lie in temporary files beside the archive until it is complete; it then appears as a whole.
 */
async function openWacz(
  { place: output, partial, software, crawl, sorted }: ExportTarget,
  { title, text, now }: WaczOptions,
): Promise<ExportSink> {
  const place = await replaceableFile(output);
  const fileOf = (part: string): string => partial(`${place}.${part}`);
  const warc = await open(fileOf('warc'), 'w');
  const files = await inStream(async (chunk) => void (await warc.appendFile(chunk)), WARC, {
    software,
    crawl,
    at: now,
  });
  const lines = await openCdxLines(fileOf('cdxj'), { sorted });
  const pages = await open(fileOf('pages'), 'w');
  await pages.appendFile(pagesHeader(text));
  let count = 0;
  let main: MainPage | null = null;
  const removeParts = async (): Promise<void> => {
    for (const handle of [warc, pages]) await handle.close();
    await lines.remove();
    for (const part of Object.keys(PATHS)) await rm(fileOf(part), { force: true });
  };
  return {
    async document(document, content) {
      const response = await addToArchive(files, lines, document, content);
      if (response === null) return;
      await pages.appendFile(pageLine(document, { id: `${++count}`, at: response.at, text }));
      if (main === null || document.depth === 0) main = { url: document.url, at: new Date(response.at).toISOString() };
    },
    // What pages need is found by the index; the list of pages is for people.
    async requisite(requisite, content) {
      await addToArchive(files, lines, requisite, content);
    },
    // An archive records what was there: removed pages stay in it.
    removed: () => {},
    async close() {
      await writeZipNum(await lines.sorted(), { index: fileOf('index'), blocks: fileOf('blocks'), name: INDEX });
      await sync(warc, pages);
      const archive = partial(place);
      await writeArchive(archive, fileOf, { title, software, now, main });
      await rename(archive, place);
      await removeParts();
    },
    async abandon() {
      await removeParts();
      await rm(partial(place), { force: true });
    },
  };
}

async function sync(...handles: readonly FileHandle[]): Promise<void> {
  for (const handle of handles) await handle.sync();
}

interface Description extends Pick<WaczOptions, 'title' | 'now'>, Pick<ExportTarget, 'software'> {
  readonly main: MainPage | null;
}

/** Parts that are compressed already, or read in pieces, are stored as they are, as the specification demands. */
async function writeArchive(file: string, fileOf: (part: Part) => string, description: Description): Promise<void> {
  const zip = new ZipFile();
  const mtime = new Date(description.now);
  const resources: object[] = [];
  for (const [part, path] of Object.entries(PATHS) as [Part, string][]) {
    const { hash, bytes } = await digestOf(fileOf(part));
    resources.push({ name: path.slice(path.lastIndexOf('/') + 1), path, hash, bytes });
    zip.addFile(fileOf(part), path, { mtime, mode: 0o100644, compress: part === 'pages' });
  }
  const { title, software, now, main } = description;
  const datapackage = JSON.stringify({
    profile: 'data-package',
    wacz_version: '1.1.1',
    ...(title !== '' && { title }),
    software,
    created: new Date(now).toISOString(),
    ...(main !== null && { mainPageUrl: main.url, mainPageDate: main.at }),
    resources,
  });
  const digest = { path: 'datapackage.json', hash: hashOf(datapackage) };
  zip.addBuffer(Buffer.from(datapackage), 'datapackage.json', { mtime, compress: false });
  zip.addBuffer(Buffer.from(JSON.stringify(digest)), 'datapackage-digest.json', { mtime, compress: false });
  const handle = await open(file, 'w');
  zip.end();
  // Flushed before it gets its name: after a crash the name has the whole archive.
  await pipeline(zip.outputStream, handle.createWriteStream({ flush: true }));
}

const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

async function digestOf(file: string): Promise<{ readonly hash: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { hash: `sha256:${hash.digest('hex')}`, bytes };
}

/** First line of `pages.jsonl` (WACZ 1.1.1, "pages.jsonl"). */
const pagesHeader = (hasText: boolean): string =>
  `${JSON.stringify({ format: 'json-pages-1.0', id: 'pages', title: 'All Pages', hasText })}\n`;

/** A further line, of one page. @param at time of its response, ms since the epoch; `text`: whether it has its text */
function pageLine(
  { url, title, text, depth }: ExportDocument,
  { id, at, text: hasText }: { readonly id: string; readonly at: number; readonly text: boolean },
): string {
  const page = {
    id,
    url,
    ts: new Date(at).toISOString(),
    title: title ?? url,
    ...(depth === 0 && { seed: true }),
    ...(hasText && text !== null && { text }),
  };
  return `${JSON.stringify(page)}\n`;
}
