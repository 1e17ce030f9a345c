import { connect } from 'node:net';
import { isAbsent } from '../local-socket.ts';
import type { RunStatus } from './run-status.ts';

/** Longest line of a run, characters. */
const MAX_LINE = 1_048_576;
/** A run without a line for this long counts as dead, ms. */
const SILENCE_MS = 30_000;

/**
 * Calls `onStatus` for each state of a run until it ends or the signal aborts. Resolves with whether there was a run.
 * Rejects with the system's error for a socket that may not be read.
 */
export function followRun(path: string, onStatus: (status: RunStatus) => void, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let waiting = '';
    let hasStatus = false;
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
        hasStatus = true;
        onStatus(status);
      }
    });
    let failure: Error | null = null;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!hasStatus && !isAbsent(error)) failure = error;
    });
    socket.on('close', () => {
      signal?.removeEventListener('abort', stop);
      if (failure === null) resolve(hasStatus);
      else reject(failure);
    });
  });
}

/** The current state of the run; `null`: none runs. */
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
