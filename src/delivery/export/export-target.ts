import { createWriteStream, readdirSync, realpathSync, statSync, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import type {
  CrawlIdentity,
  ExportTarget,
  PageContent,
  StoredResponse,
} from '../../core/plugin-host/api/exporter-api.ts';
import type { PageToConvert } from '../../core/plugin-host/markdown/convert-page.ts';
import type { WireResponse } from '../../core/ports/segment-store.ts';
import { shownResponse } from '../../core/steps/render/visit-rendered.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import type { StoredPage } from '../../operations/state/stored-pages.ts';
import { ownPartial } from '../../store/files/locks/folder-lock.ts';
import { sortedLines } from '../../store/files/sorting/external-sort.ts';
import { warcMembers } from '../../store/files/warc/warc-writer.ts';

export interface OpenTarget extends ExportTarget {
  /** Bytes written, to a file or to standard output. */
  readonly bytes: number;
  /** Makes the file appear, if there is one. */
  finish(): Promise<void>;
  /** Removes the partial file. */
  abandon(): Promise<void>;
}

export interface TargetOptions {
  readonly place: string | null;
  readonly isIncremental: boolean;
  readonly crawl: CrawlIdentity;
  /** Standard output. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  /** Folder for temporary files. */
  readonly tempDir: string;
}

/**
 * The target of an export. A file is first written under a temporary name, so that no reader sees a partial file. A
 * device or a pipe is written directly.
 */
export function openTarget({ place, isIncremental, crawl, write, tempDir }: TargetOptions): OpenTarget {
  let file: WriteStream | null = null;
  let failure: Error | null = null;
  let bytes = 0;
  const { file: whole, isReplaced } = place === null ? { file: '', isReplaced: false } : destination(place);
  const partial = isReplaced ? ownPartial(whole) : whole;
  const opened = (): WriteStream => {
    file ??= createWriteStream(partial).on('error', (error) => {
      failure ??= error;
    });
    return file;
  };
  return {
    place,
    isIncremental,
    software: `incrawl/${packageVersion()}`,
    crawl,
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      bytes += Buffer.byteLength(chunk);
      if (place === null) return write(chunk);
      // A stream that has failed emits neither 'drain' nor a second 'error'.
      if (failure !== null) throw failure;
      const stream = opened();
      if (!stream.write(chunk)) await new Promise<void>((resolve) => drained(stream, resolve));
      if (failure !== null) throw failure;
    },
    partial: ownPartial,
    sorted: (lines) => sortedLines(lines, { dir: join(tempDir, 'tmp') }),
    async finish() {
      if (place === null || file === null) return;
      const stream = file;
      await new Promise<void>((resolve) => stream.end(resolve).once('error', () => resolve()));
      if (failure !== null) throw failure;
      if (isReplaced) await rename(partial, whole);
    },
    async abandon() {
      if (file === null) return;
      const stream = file;
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve).destroy());
      if (isReplaced) await rm(partial, { force: true });
    },
  };
}

/** The file behind a link, and whether it may be replaced: /dev/null or a named pipe must not be replaced. */
function destination(place: string): { readonly file: string; readonly isReplaced: boolean } {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) return { file: place, isReplaced: true };
  const isReplaced = found.isFile() || found.isDirectory();
  return { file: isReplaced ? realpathSync(place) : place, isReplaced };
}

/** Whether a finished export would replace anything: a non-empty file, or a folder unless the export adds to it. */
export function hasContent(place: string, isAddedTo: boolean): boolean {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isDirectory()) return !isAddedTo && readdirSync(place).some((name) => !name.endsWith('.partial'));
  return found?.isFile() === true && found.size > 0;
}

function drained(stream: WriteStream, resolve: () => void): void {
  const settle = (): void => {
    stream.off('drain', settle).off('close', settle);
    resolve();
  };
  // A stream also closes after an error.
  stream.on('drain', settle).on('close', settle);
  if (stream.closed) settle();
}

/** Reads a stored page for exporters. `wholeText`: the text of the page without navigation; `null`: none is stored. */
export type ContentReader = (
  page: Pick<StoredPage, 'datum' | 'fetched' | 'segment'>,
) => PageContent & { wholeText(): Promise<string | null> };

/**
 * Reads the stored response and the Markdown of a page only when an exporter requests them.
 *
 * @param isWhole whether the Markdown has the whole page except its navigation, not only the main content
 * @param signal ends a conversion
 */
export function createContentReader(
  { config, pages }: Pick<CrawlDeps, 'config' | 'pages'>,
  isWhole = false,
  signal?: AbortSignal,
): ContentReader {
  const { gzipLevel } = config.segments;

  function viewOf(stored: WireResponse): StoredResponse {
    const wire = shownResponse(stored);
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < wire.rawHeaders.length; i += 2) {
      headers.push([wire.rawHeaders[i] as string, wire.rawHeaders[i + 1] as string]);
    }
    return {
      status: wire.status,
      at: wire.at,
      headers,
      body: () => pages.undoContentCoding(wire.body ?? new Uint8Array(0), headerOf(headers, 'content-encoding')),
      warcRecord: async () => warcMembers(stored, gzipLevel),
    };
  }

  return ({ datum, fetched, segment }) => {
    let read: Promise<StoredResponse | null> | null = null;
    const response = (): Promise<StoredResponse | null> => {
      const { warc } = fetched;
      read ??= warc === null ? Promise.resolve(null) : segment.readResponse(warc).then(viewOf);
      return read;
    };
    async function converted(form: PageToConvert['form'], extent: PageToConvert['extent']): Promise<string | null> {
      const stored = await response();
      if (stored === null) return null;
      const page = {
        index: 0,
        url: datum.url,
        contentType: headerOf(stored.headers, 'content-type') ?? null,
        headers: Object.fromEntries(stored.headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: await stored.body(),
        metadata: {},
        form,
        extent,
      };
      return pages.convert(page, signal);
    }
    return {
      response,
      markdown: () => converted('markdown', isWhole ? 'page' : 'main'),
      wholeText: () => converted('text', 'page'),
    };
  };
}

const headerOf = (headers: StoredResponse['headers'], name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1];
