import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SegmentState } from '../../../ports/crawl-db.ts';
import type { FetchedRecord } from '../../../ports/segment-store.ts';
import { onFile } from '../file-errors.ts';
import { FrameLog } from '../segments/frame-log.ts';
import { type Frame, readFrames } from '../segments/frame-reader.ts';
import { encodeRecord } from '../segments/record-codec.ts';
import { FETCHED, PARSED, readMark, writeMark } from '../segments/segment-folder.ts';
import { readStoredResponse } from '../warc/stored-response.ts';
import { warcSizes } from '../warc/warc-writer.ts';
import { MovedResponses } from './moved-responses.ts';
import { fetchedFrames, missingResponse } from './verify-segment.ts';

export interface Salvaged {
  /** Pages whose record or response is lost. */
  readonly pagesLost: number;
  /** Of these, the pages whose record can be read, but not the response that they were parsed from. */
  readonly lost: readonly LostPage[];
  readonly state: SegmentState;
  /** Number of the first `applied` fetched records that remain. */
  readonly applied: number;
}

/** A page whose response is lost. */
export interface LostPage {
  readonly url: string;
  /** As in the crawl datum. */
  readonly digest: string;
}

/**
 * Rewrites the record files of a segment with their readable records. Pages without their response are left out; where
 * the segment was not yet applied to the crawl db they are fetched again, and pages without parse output are parsed
 * again. The caller keeps a copy first.
 * @param applied number of fetched records that updatedb has applied so far
 * @param damagedWarc names of WARC files whose readable responses are moved to new files, before they are removed
 */
export async function salvageSegment(
  folder: string,
  applied: number,
  damagedWarc: ReadonlySet<string>,
): Promise<Salvaged> {
  const { info, synced } = readMark(folder);
  const sizes = warcSizes(folder);
  const kept = new Set<number>();
  let read = 0;
  let appliedKept = 0;
  const lost: LostPage[] = [];
  const responses = new MovedResponses(folder, damagedWarc);
  const fetched = await rewrite(folder, FETCHED, async function* () {
    for (const { frame, record } of readable(fetchedFrames(folder, 0))) {
      const isApplied = read++ < applied;
      const isReadable = missingResponse(record, sizes) === null && canRead(folder, record);
      const warc = record.warc === null || !isReadable ? null : responses.move(record.warc);
      if (record.warc !== null && warc === null) {
        const { url, outcome } = record;
        if (outcome.kind === 'success') lost.push({ url, digest: outcome.digest });
        continue;
      }
      kept.add(frame.index);
      if (isApplied) appliedKept++;
      const payload = warc === record.warc ? frame.payload : encodeRecord({ ...record, warc });
      yield { index: frame.index, payload };
    }
    await responses.sync();
  });
  const parsed = await rewrite(folder, PARSED, function* () {
    for (const { index, payload } of readable(readFrames(join(folder, PARSED)))) {
      if (kept.has(index)) yield { index, payload };
    }
  });
  // Fetching starts again with the missing pages; a complete segment passes through at once.
  const state: SegmentState = info.state === 'updated' ? 'updated' : 'generated';
  writeMark(folder, { info: { ...info, state }, synced: { ...synced, fetched, parsed } });
  responses.removeDamaged();
  return { lost, pagesLost: Math.max(0, read - kept.size), state, applied: appliedKept };
}

function canRead(folder: string, { warc }: FetchedRecord): boolean {
  if (warc === null) return true;
  try {
    readStoredResponse(folder, warc);
    return true;
  } catch {
    return false;
  }
}

/** The items before the first fault. */
function* readable<Item>(items: Iterable<Item>): Generator<Item> {
  const iterator = items[Symbol.iterator]();
  for (;;) {
    let next: IteratorResult<Item>;
    try {
      next = iterator.next();
    } catch {
      return;
    }
    if (next.done) return;
    yield next.value;
  }
}

type SalvagedFrame = Pick<Frame, 'index'> & { readonly payload: Uint8Array };
type Frames = AsyncIterable<SalvagedFrame>;

async function rewrite(folder: string, name: string, frames: () => Frames | Iterable<SalvagedFrame>): Promise<number> {
  const fresh = join(folder, `${name}.salvaged`);
  rmSync(fresh, { force: true });
  const log = new FrameLog(fresh);
  try {
    for await (const { index, payload } of frames()) {
      log.append(index, payload);
      if (log.pendingBytes > 1 << 20) log.flush();
    }
    log.flush();
    await log.sync();
  } finally {
    log.close();
  }
  onFile(fresh, () => renameSync(fresh, join(folder, name)));
  return log.size;
}
