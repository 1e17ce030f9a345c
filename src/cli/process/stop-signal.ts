import { EXIT } from '../exit.ts';

export interface StopSignal {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Gives the signals back to their default. */
  release(): void;
}

/**
 * The first SIGINT or SIGTERM asks for an orderly end, the second ends the process at once: all files stay valid either
 * way, only pages in flight are lost.
 */
export function listenForStop(onFirst: () => void): StopSignal {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.forced);
    onFirst();
    controller.abort(new Error('stopped by a signal'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
