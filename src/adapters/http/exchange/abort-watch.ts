// adapters/http/exchange/: one request and its response, by got or by undici.
export interface AbortWatch {
  /**
   * Calls back once when the signal aborts; the returned function ends the watch. The signal must not be aborted yet.
   */
  watch(signal: AbortSignal, onAbort: (reason: unknown) => void): () => void;
}

/**
 * Watches an AbortSignal for thousands of waiting tasks with one listener: `addEventListener` walks the list of all
 * listeners on each call, which is quadratic for a whole window of tasks.
 */
export function createAbortWatch(): AbortWatch {
  const watched = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();
  return {
    watch(signal, onAbort) {
      let waiting = watched.get(signal);
      if (waiting === undefined) {
        const callbacks = new Set<(reason: unknown) => void>();
        waiting = callbacks;
        watched.set(signal, callbacks);
        signal.addEventListener(
          'abort',
          () => {
            watched.delete(signal);
            for (const callback of callbacks) callback(signal.reason);
            callbacks.clear();
          },
          { once: true },
        );
      }
      const callbacks = waiting;
      callbacks.add(onAbort);
      return () => callbacks.delete(onAbort);
    },
  };
}
