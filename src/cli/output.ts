import type { Writable } from 'node:stream';

/** stdout: data alone. Small writes are gathered; a reader that went away (`| head -1`) is no error. */
export interface Output {
  /** Resolves when the reader keeps up again. After the reader has gone it does nothing. */
  write(text: string): Promise<void>;
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
  const flush = async (): Promise<void> => {
    const text = gathered;
    gathered = '';
    if (text !== '' && !closed) {
      await new Promise<void>((resolve) => {
        stream.write(text, (error) => {
          if (error) onError(error);
          resolve();
        });
      });
    }
    if (failure !== null) throw failure;
  };
  return {
    async write(text) {
      if (closed) return;
      gathered += text;
      if (gathered.length >= GATHERED_CHARS) await flush();
    },
    flush,
    get closed() {
      return closed;
    },
  };
}
