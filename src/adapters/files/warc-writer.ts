import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { WarcPointer, WireResponse } from '../../ports/segment-store.ts';
import { onFile } from './file-errors.ts';
import { writeWhole } from './frame-log.ts';
import { gzipMember, responseRecord, warcinfoRecord } from './warc-record.ts';

export interface WarcOptions {
  readonly software: string;
  /** A file that has grown to this is closed and the next one begun, bytes. */
  readonly maxFileBytes: number;
  readonly gzipLevel: number;
}

const NAME = /^data-(\d{5})\.warc\.gz$/;
const nameOf = (number: number): string => `data-${String(number).padStart(5, '0')}.warc.gz`;

/** Sizes of the WARC files of a segment, by name. */
export function warcSizes(dir: string): Map<string, number> {
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => NAME.test(name)) : [];
  return new Map(names.map((name) => [name, statSync(join(dir, name)).size]));
}

/** Appends responses to `data-NNNNN.warc.gz`, one gzip member each, buffered until `flush`. */
export class WarcWriter {
  private readonly dir: string;
  private readonly options: WarcOptions;
  private number = 0;
  private fd: number | null = null;
  private size = 0;
  private buffers: Buffer[] = [];
  private bufferedBytes = 0;

  /** `ends`: offset after the last record that is pointed at, by file. What lies behind it was cut short, and goes. */
  constructor(dir: string, options: WarcOptions, ends: ReadonlyMap<string, number>) {
    this.dir = dir;
    this.options = options;
    for (const name of warcSizes(dir).keys()) {
      const end = ends.get(name);
      if (end === undefined) onFile(join(dir, name), () => rmSync(join(dir, name)));
      else this.number = Math.max(this.number, Number(NAME.exec(name)?.[1] ?? 0));
    }
    const end = ends.get(nameOf(this.number));
    if (end !== undefined) {
      const file = join(dir, nameOf(this.number));
      this.fd = onFile(file, () => openSync(file, 'r+'));
      onFile(file, () => ftruncateSync(this.fd as number, end));
      this.size = end;
    }
  }

  add(response: WireResponse): WarcPointer {
    const record = responseRecord(response);
    // A payload that is compressed already gains nothing by a second compression but costs as much.
    const isCoded = response.rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-encoding');
    const member = gzipMember(record, isCoded ? Math.min(1, this.options.gzipLevel) : this.options.gzipLevel);
    if (this.fd !== null && this.size + this.bufferedBytes >= this.options.maxFileBytes) this.nextFile();
    if (this.fd === null) this.begin(response.at);
    const pointer = { file: nameOf(this.number), offset: this.size + this.bufferedBytes, length: member.length };
    this.push(member);
    return pointer;
  }

  get pendingBytes(): number {
    return this.bufferedBytes;
  }

  flush(): void {
    if (this.fd === null || this.bufferedBytes === 0) return;
    const { fd, size } = this;
    const block = Buffer.concat(this.buffers, this.bufferedBytes);
    onFile(join(this.dir, nameOf(this.number)), () => writeWhole(fd, block, size));
    this.size += block.length;
    this.buffers = [];
    this.bufferedBytes = 0;
  }

  sync(): void {
    this.flush();
    const { fd } = this;
    if (fd !== null) onFile(join(this.dir, nameOf(this.number)), () => fsyncSync(fd));
  }

  close(): void {
    this.flush();
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }

  private push(member: Buffer): void {
    this.buffers.push(member);
    this.bufferedBytes += member.length;
  }

  private nextFile(): void {
    this.sync();
    this.close();
    this.number++;
  }

  private begin(at: number): void {
    const name = nameOf(this.number);
    const file = join(this.dir, name);
    this.fd = onFile(file, () => openSync(file, 'w+'));
    this.size = 0;
    this.push(gzipMember(warcinfoRecord(this.options.software, name, at), this.options.gzipLevel));
  }
}
