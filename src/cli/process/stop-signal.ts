import { EXIT } from '../exit.ts';

/** Time from the first signal to the end of the process, whatever is pending, ms: below the 10 s that are promised. */
const STOP_WITHIN_MS = 9_000;

/**
 * Runs `use` with a signal that the first SIGINT or SIGTERM aborts, after `onFirst`: an orderly end. The second one
 * ends the process at once, and so does an orderly end that takes too long. All files stay valid either way; only pages
 * in flight are lost.
 */
export async function withStopSignal<Value>(
  onFirst: () => void,
  use: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.forced);
    // Not cleared when `use` ends: what closes then may take its time as well.
    setTimeout(() => {
      process.stderr.write('Stopped at once: the orderly end took too long. The next run goes on.\n');
      process.exit(EXIT.forced);
    }, STOP_WITHIN_MS).unref();
    onFirst();
    controller.abort(new Error('stopped by a signal'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await use(controller.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** The note after the first signal. */
export const stopNote = (after: string): string =>
  `Stopping after ${after}, within 10 s. A second signal stops at once.`;
