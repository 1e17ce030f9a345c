import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { makeFolder } from '../make-folder.ts';

/** A folder of files with a list, `index.jsonl`, in which the last line of a URL is the valid one. */
export interface FileTree {
  /** Writes a file atomically and appends `entry` to the list. */
  put(
    path: string,
    data: string | Uint8Array,
    entry: { readonly url: string } & Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /** Removes the file, if it is there. */
  remove(path: string, url: string): Promise<void>;
  close(): Promise<void>;
  /** Keeps the files; a new list is discarded. */
  abandon(): Promise<void>;
}

const LIST = 'index.jsonl';
/** Folders remembered as existing. */
const MAX_FOLDERS = 10_000;

/**
 * Opens a folder for an export.
 * @param isIncremental append to the list; otherwise a new list replaces the old one on `close`
 * @param partial temporary name of a new list, such as that of `ExportTarget`
 */
export async function openFileTree(
  folder: string,
  isIncremental: boolean,
  partial: (file: string) => string = (file) => `${file}.partial`,
): Promise<FileTree> {
  const root = resolve(folder);
  await makeFolder(root);
  const list = join(root, LIST);
  const written = isIncremental ? list : partial(list);
  const lines: FileHandle = await open(written, isIncremental ? 'a+' : 'w');
  if (isIncremental) await cutTornEnd(lines);
  const made = new Set<string>();
  const fileOf = (path: string): string => {
    const file = resolve(root, path);
    if (!file.startsWith(root + sep)) throw new TypeError(`${path} is outside of ${root}`);
    return file;
  };
  const append = (entry: object): Promise<unknown> => lines.appendFile(`${JSON.stringify(entry)}\n`);
  return {
    async put(path, data, entry) {
      const file = fileOf(path);
      const parent = dirname(file);
      if (!made.has(parent)) {
        await mkdir(parent, { recursive: true });
        if (made.size >= MAX_FOLDERS) made.clear();
        made.add(parent);
      }
      await writeFile(`${file}.partial`, data);
      await rename(`${file}.partial`, file);
      await append({ ...entry, file: path });
    },
    async remove(path, url) {
      await rm(fileOf(path), { force: true });
      await append({ deleted: url, file: path });
    },
    async close() {
      await lines.close();
      if (!isIncremental) await rename(written, list);
    },
    async abandon() {
      await lines.close();
      if (!isIncremental) await rm(written, { force: true });
    },
  };
}

const BLOCK = 64 * 1024;
const LINE_FEED = 0x0a;

/** Truncates an incomplete last line, as a full disk leaves it: the next line would be appended to it. */
async function cutTornEnd(lines: FileHandle): Promise<void> {
  const { size } = await lines.stat();
  const block = Buffer.alloc(BLOCK);
  let end = size;
  while (end > 0) {
    const from = Math.max(0, end - BLOCK);
    const { bytesRead } = await lines.read(block, 0, end - from, from);
    const last = block.subarray(0, bytesRead).lastIndexOf(LINE_FEED);
    if (last >= 0) {
      end = from + last + 1;
      break;
    }
    end = from;
  }
  if (end < size) await lines.truncate(end);
}

/**
 * Whether `--output` means a folder: there is one, or it ends in a slash or has no ending, as `notes` in contrast to
 * `notes.md`, and there is no such file.
 */
export async function isFolder(place: string): Promise<boolean> {
  if (/[/\\]$/.test(place)) return true;
  return stat(place).then(
    (found) => found.isDirectory(),
    () => extname(place) === '',
  );
}

/**
 * `--output` of an export that replaces a file as a whole. Rejects with an `Error` for a folder, a device or a pipe,
 * which must not be replaced.
 */
export async function replaceableFile(place: string | null): Promise<string> {
  if (place === null) throw new TypeError('a file is needed');
  const found = await stat(place).catch(() => null);
  if (/[/\\]$/.test(place) || found?.isFile() === false) {
    throw new Error(`--output ${place}: a file was expected, or a name that is free`);
  }
  return place;
}
