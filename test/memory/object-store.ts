import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ObjectContent, ObjectStore } from '../../src/core/ports/objects/object-store.ts';

interface Held {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly at: number;
}

/** Objects in memory. `objects` may be given to several stores, as processes share a bucket. */
export function createMemoryObjectStore(
  now: () => number = () => Date.now(),
  objects: Map<string, Held> = new Map(),
): ObjectStore & { readonly objects: Map<string, Held> } {
  const keysBelow = (prefix: string): string[] => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  return {
    objects,
    name: 'memory',
    async get(key, { range, signal } = {}) {
      signal?.throwIfAborted();
      const held = objects.get(key);
      if (held === undefined) return null;
      const bytes = Buffer.from(range === undefined ? held.bytes : held.bytes.subarray(range.start, range.end));
      return { bytes, etag: held.etag, ageMs: now() - held.at };
    },
    async put(key, content, condition) {
      const bytes = bytesOf(content);
      const held = objects.get(key);
      if (condition === 'new' ? held !== undefined : condition !== undefined && held?.etag !== condition.etag)
        return null;
      const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
      objects.set(key, { bytes, etag, at: now() });
      return { etag };
    },
    async *list(prefix) {
      for (const key of keysBelow(prefix)) {
        const { etag, bytes } = objects.get(key) as Held;
        yield { key, etag, bytes: bytes.length };
      }
    },
    async *folders(prefix) {
      const names = keysBelow(prefix).flatMap((key) => key.slice(prefix.length).split('/').slice(0, -1).slice(0, 1));
      yield* new Set(names);
    },
    async remove(keys) {
      for (const key of keys) objects.delete(key);
    },
    async close() {},
  };
}

const bytesOf = (content: ObjectContent): Buffer =>
  content instanceof Uint8Array
    ? Buffer.from(content)
    : Buffer.concat(content.map(({ file, start, end }) => readFileSync(file).subarray(start, end)));
