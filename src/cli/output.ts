import type { Writable } from 'node:stream';

/** stdout: data alone. Small writes are gathered; a reader that went away (`| head -1`) is no error. */
export interface Output {
  /** Resolves when the reader keeps up again. After the reader has gone it does nothing. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Hands over what is gathered. */
  flush(): Promise<void>;
  /** The reader has gone: there is no use in producing more. */
  readonly closed: boolean;
}

const GATHERED_CHARS = 16_384;

export function createOutput(stream: Writable): Output {
  let gathered = '';
  let closed = false;
  let failure: Error | null = null;
  const onError = (error: NodeJS.ErrnoException): void => {
    closed = true;
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') failure = error;
  };
  stream.on('error', onError);
  const handOver = async (chunk: string | Uint8Array): Promise<void> => {
    if (chunk.length > 0 && !closed) {
      await new Promise<void>((resolve) => {
        stream.write(chunk, (error) => {
          if (error) onError(error);
          resolve();
        });
      });
    }
    if (failure !== null) throw failure;
  };
  const flush = (): Promise<void> => {
    const text = gathered;
    gathered = '';
    return handOver(text);
  };
  return {
    async write(chunk) {
      if (closed) return;
      if (typeof chunk !== 'string') {
        await flush();
        return handOver(chunk);
      }
      gathered += chunk;
      if (gathered.length >= GATHERED_CHARS) await flush();
    },
    flush,
    get closed() {
      return closed;
    },
  };
}
