// published/map-reduce/: jobs for Hadoop Streaming, their input, and their runs on this machine.

import { createWriteStream, readdirSync } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { CrawlError } from '../../core/domain/errors.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { comparedPage, type DedupOptions, READING_SIGNATURES } from '../../core/steps/update/dedup.ts';
import { counted, workMeter } from '../../core/steps/work-meter.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { ownFolder } from '../../store/files/locks/folder-lock.ts';
import { fetchedUrls } from '../dedup/dedup-operations.ts';
import { clusterLines } from './link-operations.ts';
import { signedLine } from './near-pairs.ts';

/** Input of the jobs that run on a cluster. */
export interface BatchOperations {
  /** Outlinks of all parsed pages, and what their visits brought, as input of the job `linkclusters`. */
  exportLinks(place: BatchPlace): Promise<BatchExport>;
  /** Signatures of all pages that `dedup` compares, as input of the jobs `dedup` and `dedup-incoming`. */
  exportSignatures(place: BatchPlace, request: SignatureRequest): Promise<BatchExport>;
}

/** Omitted options are taken from the configuration. */
export interface SignatureRequest extends Partial<Pick<DedupOptions, 'scope' | 'minChars'>> {
  /** A segment whose pages are the query set, for `dedup-incoming`. */
  readonly incoming?: string;
}

export function batchOperations({
  config,
  runtime: { onWork },
  segments,
  store,
}: Pick<CrawlDeps, 'config' | 'runtime' | 'segments' | 'store'>): BatchOperations {
  return {
    exportLinks: (place) => exportBatch('links', place, counted(clusterLines(segments), onWork, 'reading outlinks')),
    async exportSignatures(place, { incoming: segment, ...request }) {
      const { scope, minChars } = config.dedup;
      const incoming = segment === undefined ? {} : { incoming: await fetchedUrls(segments, segment) };
      const read = signatureLines(store().db, { scope, minChars, ...request, ...incoming }, onWork);
      const query = segment === undefined ? undefined : read.query;
      const summary = await exportBatch('signatures', place, read.lines, query);
      return { ...summary, short: read.short };
    },
  };
}

/** What a batch reads: signatures of pages, or links between them. */
type BatchKind = 'signatures' | 'links';

interface BatchPlace {
  /** Folder; it appears when it is complete. */
  readonly place: string;
  /** Maximum lines of a file. */
  readonly shardLines: number;
}

export interface BatchExport {
  readonly kind: BatchKind;
  readonly folder: string;
  readonly files: number;
  readonly lines: number;
  /** Compressed size. */
  readonly bytes: number;
  /** Pages of the query set; absent without one. */
  readonly query?: number;
  /** Pages left out because their text is too short; only for signatures. */
  readonly short?: number;
}

/** File of the query set. Hadoop ignores input files whose names begin with an underscore. */
const QUERY_FILE = '_query.tsv.gz';

/** Digits of the number of a shard, so that names sort by number. */
const DIGITS = 5;

/** Writes lines as gzip files into a new folder, which is renamed when all are written. */
async function exportBatch(
  kind: BatchKind,
  { place, shardLines }: BatchPlace,
  lines: AsyncIterable<string>,
  query?: AsyncIterable<string>,
): Promise<BatchExport> {
  const whole = resolve(place);
  requireEmpty(whole, place);
  await mkdir(dirname(whole), { recursive: true });
  const folder = ownFolder(dirname(whole), `.${basename(whole)}.partial`);
  try {
    const nameOf = (shard: number): string => `${kind}-${String(shard).padStart(DIGITS, '0')}.tsv.gz`;
    const shards = await writeGzipShards(lines, { folder, nameOf, lines: shardLines });
    const asked =
      query === undefined
        ? null
        : await writeGzipShards(query, { folder, nameOf: () => QUERY_FILE, lines: Number.POSITIVE_INFINITY });
    await rename(folder, whole);
    const bytes = shards.bytes + (asked?.bytes ?? 0);
    const summary = { kind, folder: place, files: shards.files.length, lines: shards.lines, bytes };
    return asked === null ? summary : { ...summary, query: asked.lines };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function requireEmpty(folder: string, place: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new CrawlError('usage-invalid', `${place} is no folder that can be written: ${(error as Error).message}`);
  }
  if (names.length > 0) {
    throw new CrawlError('usage-invalid', `the folder ${place} is not empty: name a new one, or remove it first`);
  }
}

interface ShardOptions {
  /** Existing folder. */
  readonly folder: string;
  /** Name of a shard, by its index from 0. */
  readonly nameOf: (shard: number) => string;
  /** Lines of a shard; the last one may have fewer. */
  readonly lines: number;
}

interface Shards {
  readonly files: readonly string[];
  readonly lines: number;
  /** Compressed size. */
  readonly bytes: number;
}

/** Characters handed to the compressor together. */
const BLOCK_CHARS = 2 ** 16;

/**
 * Writes lines into gzip files one after the other, so that only one is open at a time. The same lines give the same
 * bytes. At least one file is written.
 */
async function writeGzipShards(lines: AsyncIterable<string>, options: ShardOptions): Promise<Shards> {
  const source = lines[Symbol.asyncIterator]();
  const files: string[] = [];
  let [count, bytes] = [0, 0];
  let next = await source.next();
  async function* shard(): AsyncGenerator<string> {
    let block = '';
    for (let left = options.lines; left > 0 && !next.done; left--) {
      block += `${next.value}\n`;
      count++;
      next = await source.next();
      if (block.length < BLOCK_CHARS) continue;
      yield block;
      block = '';
    }
    if (block !== '') yield block;
  }
  try {
    do {
      const name = options.nameOf(files.length);
      const file = join(options.folder, name);
      await pipeline(Readable.from(shard()), createGzip(), createWriteStream(file));
      bytes += (await stat(file)).size;
      files.push(name);
    } while (!next.done);
  } finally {
    await source.return?.();
  }
  return { files, lines: count, bytes };
}

interface SignatureLines {
  /** Of all pages that `dedup` compares, in key order. */
  readonly lines: AsyncIterable<string>;
  /** Of the pages of the new batch. */
  readonly query: AsyncIterable<string>;
  /** Number of pages left out because their text is too short; known once `lines` has been read. */
  readonly short: number;
}

/** The pages that `dedup` would compare with these options, as lines for a cluster. */
export function signatureLines(
  db: CrawlDb,
  options: Pick<DedupOptions, 'scope' | 'minChars' | 'incoming'>,
  onWork: OnWork,
): SignatureLines {
  let short = 0;
  async function* linesOf(isWanted: (url: string) => boolean, onShort: () => void): AsyncGenerator<string> {
    const { urls } = await db.counters();
    for await (const datum of db.scan({ meter: workMeter(onWork, READING_SIGNATURES, urls) })) {
      if (!isWanted(datum.url)) continue;
      const page = comparedPage(datum, { domainOf }, options);
      if (page === 'short') onShort();
      else if (page !== null) yield signedLine(datum.url, page.scope, page);
    }
  }
  return {
    lines: linesOf(
      () => true,
      () => short++,
    ),
    query: linesOf(
      (url) => options.incoming?.has(url) === true,
      () => {},
    ),
    get short() {
      return short;
    },
  };
}
