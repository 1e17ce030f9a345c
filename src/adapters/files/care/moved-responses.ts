import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { WarcPointer } from '../../../ports/segment-store.ts';
import { syncFile, writeBuffers } from '../durable-file.ts';
import { onFile } from '../file-errors.ts';
import { readMember } from '../warc/stored-response.ts';
import { readWarcMember } from '../warc/warc-reader.ts';
import { nextWarcName } from '../warc/warc-writer.ts';

interface OpenFile {
  readonly name: string;
  readonly fd: number;
  size: number;
}

/**
 * Moves the readable responses of damaged WARC files to new files, so that the damaged ones can go. The old files stay
 * until `removeDamaged`: whoever is killed before leaves records that point at them.
 */
export class MovedResponses {
  readonly #folder: string;
  readonly #damaged: ReadonlySet<string>;
  readonly #files = new Map<string, OpenFile>();

  /** @param damaged names of the files */
  constructor(folder: string, damaged: ReadonlySet<string>) {
    this.#folder = folder;
    this.#damaged = damaged;
  }

  /** The new place of a response, its own where its file is sound; `null`: it cannot be read, or is not as digested. */
  move(pointer: WarcPointer): WarcPointer | null {
    if (!this.#damaged.has(pointer.file)) return pointer;
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

  /** A new file begins with the record about its origin, as far as that of the old one can be read. */
  #begin({ file: old, offset }: WarcPointer): OpenFile {
    const name = nextWarcName(this.#folder);
    const path = join(this.#folder, name);
    const file = { name, fd: onFile(path, () => openSync(path, 'wx')), size: 0 };
    this.#files.set(old, file);
    try {
      const info = readMember(this.#folder, { file: old, offset: 0, length: offset });
      if (gunzipSync(info).toString('latin1', 0, 200).includes('WARC-Type: warcinfo')) this.#write(file, info);
    } catch {
      // Damaged as well: a WARC file may do without it.
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
  const head = gunzipSync(member).toString('latin1', 0, 4_096);
  const digest = /^WARC-Payload-Digest: sha256:(\S+)\r$/im.exec(head)?.[1];
  if (revisit !== null || digest === undefined) return revisit !== null;
  return (
    createHash('sha256')
      .update(body ?? '')
      .digest('hex') === digest
  );
}
