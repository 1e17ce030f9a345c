import type { Writable } from 'node:stream';
import type { Clock } from '../crawler.ts';
import type { StopRequests } from './process/stop-signal.ts';

/** The process as the commands see it: `start.ts` gives that of the built program, a test its own. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the commands that read it, and only then. */
  readonly stdin: () => NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** By which the crawl goes; default: the clock of the machine. */
  readonly clock?: Clock;
  readonly stops: StopRequests;
  /** Both streams go to the same file, pipe or terminal, as after `2>&1`. */
  readonly isOneOutput?: boolean;
  /** What a user types to start this program again in a folder; absent: `incrawl`. */
  readonly commandIn?: (folder: string) => string;
}

/** stdout, for data only. Small writes are buffered; a reader that closes the pipe (`| head -1`) is no error. */
export interface Output {
  /** Resolves when the stream can take more. Does nothing once the reader has closed the pipe. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Writes the buffer out. */
  flush(): Promise<void>;
  /** Whether a person reads it: text from the web is then printed without control characters in every format. */
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
