import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { markUrl, URL_MARK_WORDS, UrlSet } from '../../../core/domain/url/hash/url-digest.ts';
import type { LinkedUrls } from '../../../core/ports/seen-filter.ts';
import { ownFolder } from '../locks/folder-lock.ts';

export interface FileLinkedUrlsOptions {
  /**
   * Folder for temporary files, created on demand, and emptied of them at the end. With one part nothing is written.
   */
  readonly dir: string;
  /** As in `OpenLinkedUrls`. */
  readonly bounds: readonly string[];
  /** Number of URLs remembered while others are added, so that they are not written again. */
  readonly remembered?: number;
}

/** The pages of a site are added one after the other, and their links are mostly the same. */
const REMEMBERED = 2_000_000;
/** Marks of a part that are written at once. */
const BUFFERED = 4_096;
const MARK_BYTES = 4 * URL_MARK_WORDS;

/**
 * URLs by 64 bits of their digests, in one file per part. Memory holds the remembered URLs, or one part, at 12 to 23
 * bytes per URL. On disk each URL takes 8 bytes, and 8 more each time that it was forgotten meanwhile.
 */
export async function openFileLinkedUrls({
  dir,
  bounds,
  remembered = REMEMBERED,
}: FileLinkedUrlsOptions): Promise<LinkedUrls> {
  if (bounds.length === 0) return wholeInMemory();
  await mkdir(dir, { recursive: true });
  const folder = ownFolder(dir, 'linked');
  const parts = Array.from({ length: bounds.length + 1 }, (_, i) => new Part(join(folder, String(i))));
  const mark = new Uint32Array(URL_MARK_WORDS);
  let recent: UrlSet | null = new UrlSet();
  let loaded: { readonly part: Part; readonly urls: UrlSet } | null = null;
  const load = async (part: Part, url: string): Promise<boolean> => {
    recent = null;
    loaded = null;
    const urls = await part.read();
    loaded = { part, urls };
    return urls.has(url);
  };
  return {
    add(url) {
      if (recent === null) throw new TypeError('URLs were added after the first question');
      if (!recent.addMark(markUrl(url, mark))) return undefined;
      if (recent.size >= remembered) recent = new UrlSet();
      return (parts[partOf(bounds, urlKey(url))] as Part).add(mark);
    },
    has(url) {
      const part = parts[partOf(bounds, urlKey(url))] as Part;
      return loaded?.part === part ? loaded.urls.has(url) : load(part, url);
    },
    async close() {
      recent = null;
      loaded = null;
      for (const part of parts) await part.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function wholeInMemory(): LinkedUrls {
  const urls = new UrlSet();
  return {
    add(url) {
      urls.add(url);
      return undefined;
    },
    has: (url) => urls.has(url),
    close: async () => {},
  };
}

/** The number of bounds that are not greater than a key. */
function partOf(bounds: readonly string[], key: string): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The marks of a part, in the order of addition. */
class Part {
  readonly #path: string;
  #file: FileHandle | null = null;
  readonly #buffer = new Uint32Array(BUFFERED * URL_MARK_WORDS);
  #used = 0;
  #written = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(mark: Uint32Array): Promise<void> | undefined {
    this.#buffer.set(mark, this.#used);
    this.#used += URL_MARK_WORDS;
    return this.#used < this.#buffer.length ? undefined : this.#flush();
  }

  async read(): Promise<UrlSet> {
    await this.#flush();
    const urls = new UrlSet();
    const marks = new Uint32Array(this.#buffer.length);
    for (let position = 0; position < this.#written; ) {
      const file = this.#file as FileHandle;
      const { bytesRead } = await file.read(marks, 0, Math.min(marks.byteLength, this.#written - position), position);
      // A truncated file would make orphans of linked pages.
      if (bytesRead === 0) throw new Error(`${this.#path} has ${position} bytes where ${this.#written} were written`);
      const words = (bytesRead - (bytesRead % MARK_BYTES)) / 4;
      for (let at = 0; at < words; at += URL_MARK_WORDS) urls.addMark(marks, at);
      position += 4 * words;
    }
    return urls;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  async #flush(): Promise<void> {
    if (this.#used === 0) return;
    this.#file ??= await open(this.#path, 'w+');
    const bytes = new Uint8Array(this.#buffer.buffer, 0, 4 * this.#used);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#written + done);
      done += bytesWritten;
    }
    this.#written += bytes.length;
    this.#used = 0;
  }
}
