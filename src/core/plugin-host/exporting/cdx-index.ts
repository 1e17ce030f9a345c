// core/plugin-host/exporting/: sinks of exporters, archive files, and deliveries over HTTP.

import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, gunzipSync } from 'node:zlib';
import { getSurt } from 'warcio/utils';
import type { ExportDocument, ExportTarget, PageContent, StoredResponse } from '../api/exporter-api.ts';
import type { WarcFiles } from './warc-files.ts';

/** Position of a record. */
interface RecordPlace {
  readonly filename: string;
  /** Of its gzip member, bytes. */
  readonly offset: number;
  readonly length: number;
}

/**
 * A line of CDXJ (https://specs.webrecorder.net/cdxj/0.1.0/): the URL as SURT, the time in 14 digits, then the fields
 * for replay.
 */
function cdxLine(
  url: string,
  { status, at, headers }: StoredResponse,
  member: Uint8Array,
  { filename, offset, length }: RecordPlace,
): string {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const digest = payloadDigest(member);
  const fields = {
    url,
    mime: type?.split(';', 1)[0]?.trim() || null,
    status: `${status}`,
    ...(digest !== null && { digest }),
    length: `${length}`,
    offset: `${offset}`,
    filename,
  };
  const timestamp = new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${getSurt(url)} ${timestamp} ${JSON.stringify(fields)}`;
}

/**
 * Adds the stored response of a URL to WARC files and its place to their index, where there is one. Resolves with the
 * response; `null`: it is no longer stored, and nothing is added.
 */
export async function addToArchive(
  files: Pick<WarcFiles, 'add'>,
  index: Pick<CdxLines, 'add'> | null,
  { url }: Pick<ExportDocument, 'url'>,
  content: Pick<PageContent, 'response'>,
): Promise<StoredResponse | null> {
  const response = await content.response();
  if (response === null) return null;
  const member = await response.warcRecord();
  const place = await files.add(member);
  await index?.add(cdxLine(url, response, member, { ...place, length: member.length }));
  return response;
}

/** The head of a record is in the first bytes of its gzip member; only these are decompressed. */
function payloadDigest(member: Uint8Array): string | null {
  const head = gunzipSync(member.subarray(0, 4_096), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
  return /\r\nWARC-Payload-Digest: \w+:(\S+)\r\n/i.exec(head.slice(0, head.indexOf('\r\n\r\n') + 2))?.[1] ?? null;
}

/** Lines of an index in the making; in a file, so that memory does not grow with their number. */
export interface CdxLines {
  add(line: string): Promise<void>;
  /** The lines by key and time; no line can be added any more. */
  sorted(): Promise<AsyncIterable<string>>;
  /** Removes the file. */
  remove(): Promise<void>;
}

/** @param file temporary */
export async function openCdxLines(file: string, target: Pick<ExportTarget, 'sorted'>): Promise<CdxLines> {
  const handle: FileHandle = await open(file, 'w');
  return {
    add: (line) => handle.appendFile(`${line}\n`),
    async sorted() {
      await handle.close();
      return target.sorted(linesOf(file));
    },
    async remove() {
      await handle.close();
      await rm(file, { force: true });
    },
  };
}

interface CdxIndex {
  add(line: string): Promise<void>;
  /** Sorts the lines; the index appears. */
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** An index as a file. */
export async function openCdxIndex(file: string, target: Pick<ExportTarget, 'partial' | 'sorted'>): Promise<CdxIndex> {
  const partial = target.partial(file);
  const lines = await openCdxLines(target.partial(`${file}.unsorted`), target);
  return {
    add: (line) => lines.add(line),
    async close() {
      await pipeline(Readable.from(ended(await lines.sorted())), createWriteStream(partial));
      await rename(partial, file);
      await lines.remove();
    },
    async abandon() {
      await lines.remove();
      await rm(partial, { force: true });
    },
  };
}

/** Opened on first use: the iterator of `node:readline` loses lines read before it is iterated. */
async function* linesOf(file: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

async function* ended(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
