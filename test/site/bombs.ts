import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const MIB = 1024 * 1024;
const bombs = new Map<string, Buffer>();

/** A few bytes that swell to 64 MiB of zeros (`gzip-gzip`: in two steps). Made once. */
export function bombOf(kind: 'gzip' | 'br' | 'gzip-gzip'): Buffer {
  let bomb = bombs.get(kind);
  if (bomb === undefined) {
    bomb = MAKE[kind]();
    bombs.set(kind, bomb);
  }
  return bomb;
}

const MAKE = {
  gzip: () => gzipSync(Buffer.alloc(64 * MIB), { level: 9 }),
  br: () => brotliCompressSync(Buffer.alloc(64 * MIB), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  'gzip-gzip': () => gzipSync(bombOf('gzip')),
} as const;
