import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync } from 'node:fs';
import { syncFile, writeBuffers } from '../durable-file.ts';
import { onFile } from '../file-errors.ts';
import { encodeFrameHead, FRAME_HEAD_BYTES, type Frame, readFrames } from './frame-reader.ts';

export interface FrameLogRecovery {
  /** As in `FrameQuery`. */
  readonly syncedBytes?: number;
  /** Called for each whole frame in order; `false` drops it and all that follow. */
  readonly accept?: (frame: Frame) => boolean;
  /**
   * Whether `accept` needs the payloads of synced frames; default: yes. Otherwise these are empty, and damage in them
   * shows when they are read.
   */
  readonly payloads?: boolean;
}

/** An append-only file of framed records. Appends are buffered until `flush`. */
export class FrameLog {
  readonly file: string;
  /** Bytes that opening cut off after an interruption. */
  readonly droppedBytes: number;
  private fd: number;
  private buffers: Uint8Array[] = [];
  private bufferedBytes = 0;
  private flushedBytes: number;

  /** Opens for appending after the last whole frame; creates the file when there is none. */
  constructor(file: string, { syncedBytes = 0, accept, payloads = true }: FrameLogRecovery = {}) {
    this.file = file;
    this.flushedBytes = 0;
    for (const frame of readFrames(file, { syncedBytes, ...(!payloads && { wants: () => false }) })) {
      if (accept?.(frame) === false) break;
      this.flushedBytes = frame.end;
    }
    this.fd = onFile(file, () => openSync(file, constants.O_RDWR | constants.O_CREAT));
    this.droppedBytes = onFile(file, () => fstatSync(this.fd).size) - this.flushedBytes;
    onFile(file, () => ftruncateSync(this.fd, this.flushedBytes));
  }

  /** The payload is not copied, and must not be changed afterwards. */
  append(index: number, payload: Uint8Array): void {
    this.buffers.push(encodeFrameHead(index, payload), payload);
    this.bufferedBytes += FRAME_HEAD_BYTES + payload.length;
  }

  get pendingBytes(): number {
    return this.bufferedBytes;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.flushedBytes;
  }

  /** A failed flush loses nothing: the next one writes the same bytes at the same place. */
  flush(): void {
    if (this.bufferedBytes === 0) return;
    onFile(this.file, () => writeBuffers(this.fd, this.buffers, this.bufferedBytes, this.flushedBytes));
    this.flushedBytes += this.bufferedBytes;
    this.buffers = [];
    this.bufferedBytes = 0;
  }

  /** Waits until all flushed bytes are on disk. */
  sync(): Promise<void> {
    return syncFile(this.file);
  }

  /** Starts an empty file in place of this one. */
  reset(): void {
    const fresh = `${this.file}.new`;
    onFile(fresh, () => closeSync(openSync(fresh, 'w')));
    this.takeOver(fresh);
  }

  /** Puts a finished file in place of this one; what is buffered is lost. Readers of the old one read it to its end. */
  takeOver(fresh: string): void {
    const fd = onFile(fresh, () => openSync(fresh, constants.O_RDWR));
    onFile(this.file, () => renameSync(fresh, this.file));
    closeSync(this.fd);
    this.fd = fd;
    this.buffers = [];
    this.bufferedBytes = 0;
    this.flushedBytes = onFile(this.file, () => fstatSync(fd).size);
  }

  /** Without flushing. */
  close(): void {
    closeSync(this.fd);
  }
}
