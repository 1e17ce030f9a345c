import { inflateSync } from 'node:zlib';

/** Smaller arrays are not counted: querying the memory in use takes longer than allocating them. */
const COUNTED_BYTES = 1 << 20;

/**
 * Bounds the memory taken outside the JavaScript heap, which no limit of worker threads covers: pdf.js decompresses
 * whole streams into byte arrays, and a stream of 2 MB can become 2 GB. While `run` works, an array that would bring
 * all memory of this thread over the limit is refused. Only one `run` works at a time, as it replaces global classes
 * with its own.
 */
export class MemoryGuard {
  /** Whether an array was refused during the last `run`. pdf.js continues without the stream that needed it. */
  hasRefused = false;
  private readonly maxBytes: number;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.turn.then(() => this.guarded(work));
    this.turn = result.catch(() => {});
    return result;
  }

  private async guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    const own = { Uint8Array: globalThis.Uint8Array, DecompressionStream: globalThis.DecompressionStream };
    this.hasRefused = false;
    Object.assign(globalThis, {
      Uint8Array: new Proxy(own.Uint8Array, {
        construct: (target, args, newTarget) => {
          if (typeof args[0] === 'number') this.check(args[0]);
          return Reflect.construct(target, args, newTarget === globalThis.Uint8Array ? target : newTarget);
        },
      }),
      DecompressionStream: boundedInflate(this.maxBytes / 2),
    });
    try {
      return await work();
    } finally {
      Object.assign(globalThis, own);
    }
  }

  private check(bytes: number): void {
    if (bytes < COUNTED_BYTES || process.memoryUsage().arrayBuffers + bytes <= this.maxBytes) return;
    this.hasRefused = true;
    throw new RangeError(`an array of ${bytes} bytes exceeds the memory for a document`);
  }
}

/** A `DecompressionStream` for zlib data that come in one piece, as pdf.js writes them; too large ones are an error. */
function boundedInflate(maxOutputLength: number) {
  return class extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({ transform: (chunk, out) => out.enqueue(inflateSync(chunk, { maxOutputLength })) });
    }
  };
}
