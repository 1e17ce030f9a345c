import { connect } from 'node:net';
import { isAbsent } from '../process/local-socket.ts';
import type { RunStatus } from './run-status.ts';

/** No line of a run is longer, characters. */
const MAX_LINE = 1_048_576;
/** A run that says nothing for so long is taken for dead, ms. */
const SILENCE_MS = 30_000;

/**
 * Tells what a run says until it ends or the signal comes. Resolves with whether there was one. Rejects with what the
 * operating system says about a socket that may not be read.
 */
export function followRun(path: string, onStatus: (status: RunStatus) => void, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let waiting = '';
    let met = false;
    const socket = connect(path);
    const stop = (): void => {
      socket.destroy();
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    socket.setTimeout(SILENCE_MS, stop);
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      const lines = (waiting + part).split('\n');
      waiting = lines.pop() ?? '';
      if (waiting.length > MAX_LINE) return stop();
      for (const line of lines) {
        const status = read(line);
        if (status === null) continue;
        met = true;
        onStatus(status);
      }
    });
    let failure: Error | null = null;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!met && !isAbsent(error)) failure = error;
    });
    socket.on('close', () => {
      signal?.removeEventListener('abort', stop);
      if (failure === null) resolve(met);
      else reject(failure);
    });
  });
}

/** What the run says now; `null`: none is going. */
export async function askRun(path: string): Promise<RunStatus | null> {
  const first = new AbortController();
  let answer: RunStatus | null = null;
  const onStatus = (status: RunStatus): void => {
    answer ??= status;
    first.abort();
  };
  await followRun(path, onStatus, first.signal);
  return answer;
}

function read(line: string): RunStatus | null {
  try {
    const status = JSON.parse(line) as RunStatus;
    return status.version === 1 ? status : null;
  } catch {
    return null;
  }
}
