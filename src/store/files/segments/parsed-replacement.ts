import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ParsedReplacement } from '../../../core/ports/segment-store.ts';
import { damagedAt, onFile } from '../durable-file.ts';
import { FRAME_HEAD_BYTES, type Frame, FrameLog, readFully } from './frame-log.ts';
import { PARSED } from './segment-folder.ts';

/** The segment whose parse output is replaced. */
export interface ReplacedSegment {
  readonly dir: string;
  /** Length of its fetch list. */
  readonly urls: number;
  /** Throws a `TypeError` for a position that cannot have parse output. */
  check(index: number): void;
  /** The present parse output in order. */
  frames(): Iterable<Frame>;
  /** Replaces the present output by a finished file; `added`: positions that had none. */
  take(file: string, added: readonly number[]): void;
}

const HELD_BACK_BYTES = 1 << 20;

/** New records first go to a file of their own. It is merged with the present output once all are there. */
export class FileParsedReplacement implements ParsedReplacement {
  private readonly segment: ReplacedSegment;
  private readonly fresh: FrameLog;
  private freshBytes = 0;
  /** By position: where the new record ends, and its length; 0: it has none. */
  private readonly ends: Float64Array;
  private readonly lengths: Uint32Array;
  private isOpen = true;

  constructor(segment: ReplacedSegment) {
    this.segment = segment;
    this.fresh = emptyLog(join(segment.dir, `${PARSED}.fresh`));
    this.ends = new Float64Array(segment.urls);
    this.lengths = new Uint32Array(segment.urls);
  }

  async add(index: number, encoded: Uint8Array): Promise<void> {
    this.checkOpen();
    this.segment.check(index);
    if (this.has(index)) throw new TypeError(`position ${index} has been replaced already`);
    this.fresh.append(index, encoded);
    this.freshBytes += FRAME_HEAD_BYTES + encoded.length;
    this.ends[index] = this.freshBytes;
    this.lengths[index] = encoded.length;
    if (this.fresh.pendingBytes >= HELD_BACK_BYTES) this.fresh.flush();
  }

  async commit(): Promise<void> {
    this.checkOpen();
    this.fresh.flush();
    const file = join(this.segment.dir, `${PARSED}.new`);
    try {
      const added = await this.merge(file);
      this.segment.take(file, added);
    } finally {
      this.discard();
      rmSync(file, { force: true });
    }
  }

  discard(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.fresh.close();
    rmSync(this.fresh.file, { force: true });
  }

  private async merge(file: string): Promise<number[]> {
    const merged = emptyLog(file);
    const source = onFile(this.fresh.file, () => openSync(this.fresh.file, 'r'));
    try {
      const append = async (index: number, payload: Uint8Array): Promise<void> => {
        merged.append(index, payload);
        if (merged.pendingBytes < HELD_BACK_BYTES) return;
        merged.flush();
        // Yields, so that the heartbeat of the lock can run.
        await setImmediate();
      };
      for (const { index, payload } of this.segment.frames()) {
        const isReplaced = this.has(index);
        await append(index, isReplaced ? this.read(source, index) : payload);
        if (isReplaced) this.ends[index] = 0;
      }
      const added: number[] = [];
      for (const [index, end] of this.ends.entries()) {
        if (end === 0) continue;
        added.push(index);
        await append(index, this.read(source, index));
      }
      merged.flush();
      await merged.sync();
      return added;
    } finally {
      closeSync(source);
      merged.close();
    }
  }

  private has(index: number): boolean {
    return this.ends[index] !== 0;
  }

  private read(source: number, index: number): Uint8Array {
    const length = this.lengths[index] as number;
    const offset = (this.ends[index] as number) - length;
    const payload = Buffer.allocUnsafe(length);
    const { file } = this.fresh;
    if (onFile(file, () => readFully(source, payload, offset)) < length) {
      throw damagedAt(file, offset, 'the record is cut short');
    }
    return payload;
  }

  private checkOpen(): void {
    if (!this.isOpen) throw new TypeError('the replacement has ended');
  }
}

/** An empty log, without what an interrupted run left in the file. */
function emptyLog(file: string): FrameLog {
  rmSync(file, { force: true });
  return new FrameLog(file);
}
