/** Holds the answers of a local server back, so that a crawl cannot end while a test looks at it. */
export interface Gate {
  /** Calls `send`, now or when the gate opens. */
  pass(send: () => void): void;
  /** Lets so many more through, and then none. */
  closeAfter(count: number): void;
  /** Lets all through, those who wait first. */
  open(): void;
}

export function createGate(): Gate {
  let left = Number.POSITIVE_INFINITY;
  const waiting: (() => void)[] = [];
  return {
    pass(send) {
      if (left-- > 0) send();
      else waiting.push(send);
    },
    closeAfter(count) {
      left = count;
    },
    open() {
      left = Number.POSITIVE_INFINITY;
      for (const send of waiting.splice(0)) send();
    },
  };
}
