import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../../domain/errors.ts';
import type { WarcPointer, WireResponse } from '../../../ports/segment-store.ts';
import { damagedAt, onFile } from '../file-errors.ts';
import { readFully } from '../segments/frame-reader.ts';
import { readWarcMember } from './warc-reader.ts';
import { isWarcName } from './warc-writer.ts';

/** Reads a response from the WARC files of a segment. Throws `segment-corrupt`. */
export function readStoredResponse(folder: string, pointer: WarcPointer): WireResponse {
  const { file, offset } = pointer;
  return readWarcMember(readMember(folder, pointer), `${join(folder, file)} at byte ${offset}`);
}

/** The bytes of a gzip member, as they are. Throws `segment-corrupt` where there are fewer. */
export function readMember(folder: string, { file: name, offset, length }: WarcPointer): Buffer {
  const file = join(folder, name);
  if (!isWarcName(name)) throw new CrawlError('segment-corrupt', `${file} is not the name of a WARC file`);
  const member = onFile(file, () => {
    const fd = openSync(file, 'r');
    try {
      // Checked before memory is allocated, since the pointer itself may be damaged.
      if (!(offset >= 0 && length >= 0 && offset + length <= fstatSync(fd).size)) return null;
      const bytes = Buffer.allocUnsafe(length);
      return readFully(fd, bytes, offset) === length ? bytes : null;
    } finally {
      closeSync(fd);
    }
  });
  if (member === null) throw damagedAt(file, offset, `there are no ${length} bytes`);
  return member;
}
