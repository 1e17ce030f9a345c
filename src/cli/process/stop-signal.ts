import { EXIT } from '../../render/exit.ts';

/** How a command is told to end. */
export interface StopRequests {
  /** Calls `listener` at each request from now on, until the returned function is called. */
  listen(listener: () => void): () => void;
  /** Ends the program at once, with this exit code. */
  endAtOnce(code: number): void;
}

/** SIGINT and SIGTERM of this process. */
export const processStops: StopRequests = {
  listen(listener) {
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
    return () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    };
  },
  endAtOnce: (code) => process.exit(code),
};

/** Time from the first signal to the end of the process, whatever is pending, ms: below the promised 10 s. */
const STOP_WITHIN_MS = 9_000;

/**
 * Runs `use` with a signal that the first request to stop aborts, after `onFirst`: an orderly end. A second request
 * ends the program at once, and so does an orderly end that takes too long. All files stay valid either way; only pages
 * in flight are lost.
 */
export async function withStopSignal<Value>(
  { stops, stderr }: { readonly stops: StopRequests; readonly stderr: NodeJS.WritableStream },
  onFirst: () => void,
  use: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      stops.endAtOnce(EXIT.forced);
      return;
    }
    // Not cleared when `use` ends: closing resources afterwards may also take long.
    setTimeout(() => {
      stderr.write('Stopped at once: the orderly end took too long. The next run goes on.\n');
      stops.endAtOnce(EXIT.forced);
    }, STOP_WITHIN_MS).unref();
    onFirst();
    controller.abort(new Error('stopped by a signal'));
  };
  const ignore = stops.listen(onSignal);
  try {
    return await use(controller.signal);
  } finally {
    ignore();
  }
}

/** The note after the first signal. */
export const stopNote = (after: string): string =>
  `Stopping after ${after}, within 10 s. A second signal stops at once.`;
