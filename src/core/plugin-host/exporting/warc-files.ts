import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ExportTarget } from '../api/exporter-api.ts';

/** Output of gzip members, in sequence. */
export interface WarcFiles {
  /** File of the member, and its offset. */
  add(member: Uint8Array): Promise<{ readonly filename: string; readonly offset: number }>;
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** Origin of the files; `at`: ms since the epoch. */
export interface Written extends Pick<ExportTarget, 'software' | 'crawl'> {
  readonly at: number;
}

/** The `warcinfo` record at the beginning of a WARC file (WARC 1.1, section 6.2). */
function warcinfo({ software, crawl, at }: Written, filename: string): Uint8Array {
  const fields = [
    ['software', software],
    ['operator', crawl.operator],
    ['hostname', hostname()],
    ['http-header-user-agent', crawl.userAgent],
    ['robots', crawl.robots],
    ['format', 'WARC File Format 1.1'],
    ['conformsTo', 'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
  ] as const;
  const body = fields.map(([name, value]) => (value === '' ? '' : `${name}: ${inLine(value)}\r\n`)).join('');
  const head = [
    'WARC/1.1',
    'WARC-Type: warcinfo',
    `WARC-Record-ID: <urn:uuid:${randomUUID()}>`,
    `WARC-Date: ${new Date(at).toISOString()}`,
    `WARC-Filename: ${filename.replace(/[^\x20-\x7e]/g, '_')}`,
    'Content-Type: application/warc-fields',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return gzipSync(`${head.join('\r\n')}\r\n\r\n${body}\r\n\r\n`);
}

/** A field of `application/warc-fields` is a line. */
const inLine = (value: string): string => value.replace(/[\r\n]+/g, ' ');

/** All in one stream. */
export async function inStream(
  write: (chunk: Uint8Array) => Promise<void>,
  filename: string,
  written: Written,
): Promise<WarcFiles> {
  const first = warcinfo(written, filename);
  let end = first.length;
  await write(first);
  return {
    async add(member) {
      const offset = end;
      end += member.length;
      await write(member);
      return { filename, offset };
    },
    close: async () => {},
    abandon: async () => {},
  };
}

/**
 * Files `NAME-00000.warc.gz`, `NAME-00001.warc.gz`, ..: a new one begins when the last has reached `maxBytes`. They get
 * their final names at the end.
 */
export async function inFolder(
  folder: string,
  written: Written,
  { name, maxBytes, partial }: { readonly name: string; readonly maxBytes: number } & Pick<ExportTarget, 'partial'>,
): Promise<WarcFiles> {
  await mkdir(folder, { recursive: true });
  const files: { readonly filename: string; readonly unfinished: string }[] = [];
  let handle: FileHandle | null = null;
  let offset = 0;
  const next = async (): Promise<FileHandle> => {
    await handle?.close();
    const filename = `${name}-${String(files.length).padStart(5, '0')}.warc.gz`;
    const unfinished = partial(join(folder, filename));
    files.push({ filename, unfinished });
    handle = await open(unfinished, 'w');
    const first = warcinfo(written, filename);
    await handle.appendFile(first);
    offset = first.length;
    return handle;
  };
  return {
    async add(member) {
      const file = handle === null || offset >= maxBytes ? await next() : handle;
      const start = offset;
      await file.appendFile(member);
      offset += member.length;
      return { filename: files.at(-1)!.filename, offset: start };
    },
    async close() {
      if (handle === null) await next();
      await handle?.close();
      for (const { filename, unfinished } of files) await rename(unfinished, join(folder, filename));
    },
    async abandon() {
      await handle?.close();
      for (const { unfinished } of files) await rm(unfinished, { force: true });
    },
  };
}
