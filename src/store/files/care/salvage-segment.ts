// store/files/care/: verification, repair and copies of segments, and the files of a backup.

import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SegmentState } from '../../../core/ports/crawl-db.ts';
import type { FetchedRecord, WarcPointer } from '../../../core/ports/segment-store.ts';
import { onFile, syncFile, writeBuffers } from '../durable-file.ts';
import { encodeRecord, type Frame, FrameLog, readFrames } from '../segments/frame-log.ts';
import { FETCHED, PARSED, readMark, writeMark } from '../segments/segment-folder.ts';
import { payloadDigestOf, readMember, readStoredResponse, readWarcMember } from '../warc/warc-reader.ts';
import { nextWarcName, warcSizes } from '../warc/warc-writer.ts';
import { fetchedFrames, missingResponse } from './verify-segment.ts';

interface OpenFile {
  readonly name: string;
  readonly fd: number;
  size: number;
}

/**
 * Moves the readable responses of damaged WARC files to new files, so that the damaged ones can be removed. The old
 * files stay until `removeDamaged`: if the process is killed before, records still point at them.
 */
class MovedResponses {
  readonly #folder: string;
  readonly #damaged: ReadonlySet<string>;
  readonly #files = new Map<string, OpenFile>();
  readonly #places = new Map<string, WarcPointer | null>();

  /** @param damaged names of the files */
  constructor(folder: string, damaged: ReadonlySet<string>) {
    this.#folder = folder;
    this.#damaged = damaged;
  }

  /**
   * The new place of a response, or its own if its file is sound. `null`: it cannot be read, or does not match its
   * digest.
   */
  move(pointer: WarcPointer): WarcPointer | null {
    const { body, ...place } = pointer;
    if (body === undefined) return this.#moved(pointer);
    const [own, source] = [this.#moved(place), this.#moved(body)];
    if (own === null || source === null) return null;
    return own === place && source === body ? pointer : { ...own, body: source };
  }

  /** Each once: several responses may have one body. */
  #moved(pointer: WarcPointer): WarcPointer | null {
    if (!this.#damaged.has(pointer.file)) return pointer;
    const key = `${pointer.file} ${pointer.offset}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#rewritten(pointer);
    this.#places.set(key, place);
    return place;
  }

  #rewritten(pointer: WarcPointer): WarcPointer | null {
    let member: Buffer;
    try {
      member = readMember(this.#folder, pointer);
      if (!isAsDigested(member)) return null;
    } catch {
      return null;
    }
    const file = this.#files.get(pointer.file) ?? this.#begin(pointer);
    const offset = this.#write(file, member);
    return { file: file.name, offset, length: member.length };
  }

  /** Waits until the new files are on disk. */
  async sync(): Promise<void> {
    for (const { name, fd } of this.#files.values()) {
      closeSync(fd);
      await syncFile(join(this.#folder, name));
    }
  }

  removeDamaged(): void {
    for (const name of this.#damaged) {
      const file = join(this.#folder, name);
      onFile(file, () => rmSync(file, { force: true }));
    }
  }

  /** A new file begins with the record about its origin, if that of the old one can be read. */
  #begin({ file: old, offset }: WarcPointer): OpenFile {
    const name = nextWarcName(this.#folder);
    const path = join(this.#folder, name);
    const file = { name, fd: onFile(path, () => openSync(path, 'wx')), size: 0 };
    this.#files.set(old, file);
    try {
      const info = readMember(this.#folder, { file: old, offset: 0, length: offset });
      if (gunzipSync(info).toString('latin1', 0, 200).includes('WARC-Type: warcinfo')) this.#write(file, info);
    } catch {
      // The origin record is damaged as well: a WARC file is valid without it.
    }
    return file;
  }

  #write(file: OpenFile, member: Buffer): number {
    const offset = file.size;
    onFile(join(this.#folder, file.name), () => writeBuffers(file.fd, [member], member.length, offset));
    file.size += member.length;
    return offset;
  }
}

/** Whether the body of a response has the digest in its record. Throws for a record that cannot be read. */
function isAsDigested(member: Buffer): boolean {
  const { body, revisit } = readWarcMember(member, 'the response');
  const digest = payloadDigestOf(member);
  if (revisit !== null || digest === undefined) return revisit !== null;
  return (
    createHash('sha256')
      .update(body ?? '')
      .digest('hex') === digest
  );
}

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
 * Rewrites the record files of a segment with their readable records. Pages without their response are left out: if the
 * segment was not yet applied to the crawl db, they are fetched again. Pages without parse output are parsed again. The
 * caller keeps a copy first.
 * @param applied number of fetched records that updatedb has applied so far
 * @param damagedWarc names of WARC files; their readable responses are moved to new files before they are removed
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
  // Fetching starts again with the missing pages; a complete segment passes through it at once.
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
