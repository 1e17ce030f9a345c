import { randomBytes } from 'node:crypto';
import { CrawlError, unknownVersion } from '../../core/domain/errors.ts';
import type { SegmentInfo } from '../../core/ports/segment-store.ts';
import { ADDED, FETCH_LIST, FETCHED, PARSED } from '../../store/files/segments/segment-folder.ts';

/** Where the frames of `fetched.bin` and `parsed.bin` lie, so that one record can be read without the others. */
export const FETCHED_INDEX = 'fetched.idx';
export const PARSED_INDEX = 'parsed.idx';

/** The files of a segment that are stored in pieces; its other files are whole WARC files. */
export const RECORD_FILES = [FETCH_LIST, ADDED, FETCHED, PARSED, FETCHED_INDEX, PARSED_INDEX] as const;
export type RecordFile = (typeof RECORD_FILES)[number];

/** The next piece of a file: a part of an object. */
export interface Extent {
  readonly object: string;
  readonly offset: number;
  readonly bytes: number;
}

/** Who writes a segment. */
export interface Writer {
  readonly pid: number;
  readonly host: string;
  /** Start of the process, ms since the epoch. */
  readonly startedAt: number;
  /** Different for each opening. */
  readonly nonce: string;
}

/**
 * What a segment consists of. The manifest is one object, replaced as a whole by a conditional request, so a reader
 * sees the segment as of one moment. The objects that it names never change.
 */
export interface SegmentManifest {
  /** Raised with every change that earlier versions would misread. */
  readonly format: 1;
  /** Replacements so far: no two manifests of a segment are equal. */
  readonly sequence: number;
  /** Fencing token of the last writer; a writer with a smaller one is refused. */
  readonly token: number;
  readonly writer: Writer | null;
  readonly info: SegmentInfo;
  /** Object with the facts of the hosts, if they are too long for the manifest; otherwise they are in `info`. */
  readonly hosts: string | null;
  readonly files: Readonly<Record<RecordFile, readonly Extent[]>>;
  readonly warc: Readonly<Record<string, { readonly object: string; readonly bytes: number }>>;
  /** Objects of an earlier manifest that readers may still be reading; removed with the next replacement. */
  readonly replaced: readonly string[];
}

const FORMAT = 1;
export const NO_FILES: SegmentManifest['files'] = Object.freeze({
  [FETCH_LIST]: [],
  [ADDED]: [],
  [FETCHED]: [],
  [PARSED]: [],
  [FETCHED_INDEX]: [],
  [PARSED_INDEX]: [],
});

export const MANIFESTS = 'manifests/';
export const DATA = 'data/';
export const manifestKey = (id: string): string => `${MANIFESTS}${id}.json`;
export const dataKey = (id: string, object: string): string => `${DATA}${id}/${object}`;
/** `null`: the key is not that of a manifest. */
export const idOfManifest = (key: string): string | null => /^manifests\/([\w-]+)\.json$/.exec(key)?.[1] ?? null;

/** A name that no other writer uses, so that a fenced-off writer cannot touch objects in use. */
export function objectName(stem: string, ending: string): string {
  return `${stem}-${randomBytes(6).toString('hex')}${ending}`;
}

export const encodeManifest = (manifest: SegmentManifest): string => `${JSON.stringify(manifest)}\n`;

/** Throws `segment-corrupt`, or `db-version` for a format that this version does not know. */
export function decodeManifest(text: string, name: string): SegmentManifest {
  let read: Partial<SegmentManifest> & { readonly format?: number };
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw new CrawlError('segment-corrupt', `${name} is no JSON`, { cause: error });
  }
  if (typeof read?.format === 'number' && read.format > FORMAT) {
    throw unknownVersion(`${name} has format`, read.format, FORMAT);
  }
  const { format, info, files, warc } = read ?? {};
  const isWhole =
    format === FORMAT && typeof info?.id === 'string' && typeof files === 'object' && typeof warc === 'object';
  if (!isWhole) throw new CrawlError('segment-corrupt', `${name} does not describe a segment`);
  return read as SegmentManifest;
}

export const bytesOf = (extents: readonly Extent[]): number => extents.reduce((sum, { bytes }) => sum + bytes, 0);

/** Names of all objects that a manifest needs. */
export function objectsOf({ files, warc, hosts }: SegmentManifest): Set<string> {
  const names = Object.values(files).flatMap((extents) => extents.map(({ object }) => object));
  return new Set([...names, ...Object.values(warc).map(({ object }) => object), ...(hosts === null ? [] : [hosts])]);
}
