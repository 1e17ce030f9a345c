import { EXIT } from '../exit.ts';

/**
 * Runs `use` with a signal that the first SIGINT or SIGTERM aborts, after `onFirst`: an orderly end. The second one
 * ends the process at once. All files stay valid either way; only pages in flight are lost.
 */
export async function withStopSignal<Value>(
  onFirst: () => void,
  use: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.forced);
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
export const stopNote = (after: string): string => `Stopping after ${after}. A second signal stops at once.`;
