import type { Writable } from 'node:stream';

/** Colours a text if the terminal has colours. */
export type Color = (color: 'green' | 'red' | 'blue' | 'gray', text: string) => string;

/** stdout, only for data. Small writes are buffered; a reader that closes the pipe (`| head -1`) is not an error. */
export interface Output {
  /** Resolves when the stream can take more. Does nothing once the reader has closed the pipe. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Flushes the buffer. */
  flush(): Promise<void>;
  /** Whether a person reads it: text from the web is then printed without control characters in any format. */
  readonly isTerminal: boolean;
  /** The reader has closed the pipe: further output would be lost. */
  readonly closed: boolean;
}

const BUFFERED_CHARS = 16_384;

/** @param beforeWrite called before anything appears on a terminal */
export function createOutput(
  stream: Writable & { readonly isTTY?: boolean },
  beforeWrite: () => void = () => {},
): Output {
  let buffered = '';
  let closed = false;
  let failure: Error | null = null;
  const onError = (error: NodeJS.ErrnoException): void => {
    closed = true;
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') failure = error;
  };
  stream.on('error', onError);
  const writeOut = async (chunk: string | Uint8Array): Promise<void> => {
    if (chunk.length > 0 && !closed) {
      if (stream.isTTY) beforeWrite();
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
    const text = buffered;
    buffered = '';
    return writeOut(text);
  };
  return {
    async write(chunk) {
      if (closed) return;
      if (typeof chunk !== 'string') {
        await flush();
        return writeOut(chunk);
      }
      buffered += chunk;
      if (buffered.length >= BUFFERED_CHARS) await flush();
    },
    flush,
    isTerminal: stream.isTTY === true,
    get closed() {
      return closed;
    },
  };
}
