// published/map-reduce/: jobs for Hadoop Streaming, their input, and their runs on this machine.

import { readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { writeGzipShards } from '../../store/files/gzip-shards.ts';
import { ownFolder } from '../../store/files/locks/folder-lock.ts';

/** What a batch reads: signatures of pages, or links between them. */
export type BatchKind = 'signatures' | 'links';

export interface BatchPlace {
  /** Folder; it appears when it is complete. */
  readonly place: string;
  /** Lines of a file, at most. */
  readonly shardLines: number;
}

export interface BatchExport {
  readonly kind: BatchKind;
  readonly folder: string;
  readonly files: number;
  readonly lines: number;
  /** As compressed. */
  readonly bytes: number;
  /** Pages of the query set; absent without one. */
  readonly query?: number;
  /** Pages left out for too little text; of signatures alone. */
  readonly short?: number;
}

/** File of the query set. Hadoop takes no file as input whose name begins with an underscore. */
const QUERY_FILE = '_query.tsv.gz';

/** Digits of the number of a shard, so that names sort by number. */
const DIGITS = 5;

/** Writes lines as gzip files into a new folder, which is renamed when all are written. */
export async function exportBatch(
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
